"""Names of libraries, databases and tools that are recognised without being introduced, and names that are no library.

The list is short on purpose: what a project uses is learnt from its imports, manifests and pages.
"""

from __future__ import annotations

import re
import sys
from typing import Final

LIBRARIES: Final = frozenset(
    """
    Angular Ansible Apollo argon2 Astro asyncpg axios Babel bcrypt Biome BullMQ Celery Cypress date-fns Day.js
    Deno Django Docker Drizzle Elasticsearch esbuild ESLint ethers FastAPI Fastify GraphQL gRPC gunicorn Hono
    httpx Jackson Jinja2 jose jQuery jsonwebtoken Kafka Kotlin Kubernetes Kysely LangChain Laravel lodash Luxon
    MariaDB matplotlib Mockito moment.js MongoDB MongoDB Mongoose msgspec MySQL NATS nginx NestJS Next.js
    Node.js NumPy Nuxt OpenTelemetry pandas Playwright pnpm PostgreSQL Postgres Preact Prettier Prisma
    Prometheus Puppeteer pydantic pytest PyTorch RabbitMQ rdflib Redis redis-py Redux Remix Rollup RSpec RxJS
    scikit-learn SciPy Selenium Sentry Sequelize serde Sidekiq SolidJS Spring-Boot SQLAlchemy SQLite Svelte
    SwiftUI Tailwind TensorFlow Terraform tokio TypeORM TypeScript urllib3 uvicorn Valkey Vite Vitest Vue.js
    Webpack Whoosh Yup Zod Zustand
    """.split()  # noqa: SIM905
)
"""Distinct enough to be recognised in any capitals."""

CAPITALISED: Final = frozenset(
    """
    Bootstrap Bun Chai Express Flask Jest Koa Mocha Next Rails React Requests Rust Spring Vue Yarn Go Python
    """.split()  # noqa: SIM905
)
"""Also everyday words: recognised with their capital only, and not at the beginning of a sentence."""

LANGUAGES: Final = frozenset(["go", "python", "rust", "kotlin", "typescript"])

_NODE: Final = frozenset(
    """
    assert async_hooks buffer child_process cluster console constants crypto dgram dns domain events fs http
    http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
    string_decoder sys timers tls tty url util v8 vm wasi worker_threads zlib
    """.split()  # noqa: SIM905
)
_OTHERS: Final = frozenset(["std", "core", "alloc", "crate", "self", "super", "java", "javax", "kotlin"])
_PACKAGE: Final = re.compile(r"@?[A-Za-z0-9][\w.-]*(?:/[\w.-]+)*")


def is_built_in(name: str, language: str) -> bool:
    """Whether an imported name belongs to the language, and so is no library."""
    first = name.removeprefix("node:").split("/")[0].split("::")[0].split(".")[0]
    if name.startswith("node:"):
        return True
    if language == "javascript":
        return first in _NODE
    if language == "python":
        return first in sys.stdlib_module_names
    return first.casefold() in _OTHERS


def is_package_name(name: str) -> bool:
    """Whether a text can be the name of a package at all."""
    return _PACKAGE.fullmatch(name) is not None and not name.isdigit()
