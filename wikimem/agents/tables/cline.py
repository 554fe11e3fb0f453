"""Cline: the event's own fields lie under its name in camel case, or flat in newer versions."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "TaskStart": ("session_start", ""),
    "TaskResume": ("session_start", ""),
    "TaskCancel": ("session_end", ""),
    "TaskComplete": ("session_end", ""),
    "TaskError": ("turn_failed", ""),
    "SessionShutdown": ("session_end", ""),
    "UserPromptSubmit": ("prompt", ""),
    "PreToolUse": ("tool_start", ""),
    "PostToolUse": ("tool", ""),
    "Notification": ("notification", ""),
    "PreCompact": ("pre_compact", ""),
}

AGENT = Agent(
    "cline",
    EVENTS,
    dialect="modification",
    injects=("TaskStart", "TaskResume", "UserPromptSubmit", "PreToolUse", "PostToolUse"),
    bodies=(
        "taskStart", "taskResume", "taskCancel", "taskComplete", "taskError", "userPromptSubmit", "preToolUse",
        "postToolUse", "notification", "preCompact", "taskMetadata",
    ),
)  # fmt: skip
