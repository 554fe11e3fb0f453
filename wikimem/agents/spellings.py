"""How agents spell the fields of an event. The first spelling that has a value counts."""

from __future__ import annotations

SESSION = ("session_id", "sessionId", "conversation_id", "conversationId", "trajectory_id", "taskId", "sessionID")
EVENT = ("hook_event_name", "hookEventName", "hookName", "agent_action_name", "event", "type")
CWD = ("cwd", "working_dir", "workingDirectory", "new_cwd", "directory")
ROOTS = ("workspace_roots", "workspaceRoots")
PROMPT = ("prompt", "user_prompt", "userPrompt", "user_message", "submitted_prompt", "initialPrompt", "message", "task")
TEXT = (
    "last_assistant_message", "prompt_response", "response", "text", "message", "compact_summary", "task_description",
    "assistant_response", "result", "summary", "description",
)  # fmt: skip
TOOL = ("tool_name", "toolName", "mcp_tool_name", "tool")
INPUT = ("tool_input", "toolInput", "toolArgs", "tool_args", "parameters", "mcp_tool_arguments", "args")
OUTPUT = (
    "tool_response", "toolResponse", "tool_output", "toolResult", "tool_result", "result_json", "mcp_result", "output",
    "result",
)  # fmt: skip
ERROR = ("error", "error_message", "errorMessage", "error_details")
TURN = ("turn_id", "turnId", "generation_id", "prompt_id", "execution_id")
CALL = ("tool_use_id", "toolUseId", "tool_call_id", "toolCallId", "call_id", "callID")
STAMP = ("timestamp",)
SOURCE = ("source",)
REASON = ("reason", "trigger", "status", "action", "load_reason", "notification_type", "expansion_type")
TITLE = ("task_subject", "session_title", "title", "command_name", "initialTask", "name")
SUBAGENT = ("agent_id", "agentId", "subagent_id")
SUBAGENT_TYPE = ("agent_type", "agentType", "subagent_type", "teammate_name")
MODEL = ("model", "to_model")
TRANSCRIPT = ("agent_transcript_path", "transcript_path", "transcriptPath")
SERVER = ("mcp_server", "mcp_server_name", "server", "serverName")
COMMAND = ("command", "command_line", "commandLine", "cmd", "script")
FILES = (
    "file_path", "filePath", "path", "notebook_path", "absolute_path", "relative_path", "target_file", "filename",
    "worktree_path",
)  # fmt: skip
FILE_LISTS = ("paths", "files", "file_paths", "filePaths")

PROJECT_VARIABLES = (
    "CLAUDE_PROJECT_DIR", "GEMINI_CWD", "GEMINI_PROJECT_DIR", "QWEN_PROJECT_DIR", "CURSOR_PROJECT_DIR",
)  # fmt: skip
"""Environment variables in which agents name the folder that they work in."""

SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "GEMINI_SESSION_ID")

LEFT_OUT = frozenset(
    (
        *SESSION, *EVENT, *CWD, *ROOTS, *PROMPT, *TEXT, *TOOL, *INPUT, *OUTPUT, *ERROR, *TURN, *CALL, *STAMP, *SOURCE,
        *REASON, *TITLE, *SUBAGENT, *SUBAGENT_TYPE, *MODEL, *TRANSCRIPT, *SERVER, *COMMAND, *FILES, *FILE_LISTS,
        "user_email", "userId", "userID", "permission_mode", "stop_hook_active", "cursor_version", "clineVersion",
        "profile", "content", "delta", "edits", "old_cwd", "requested_schema", "requested_model", "cache_ttl",
        "pricing", "prompt_cache_warm", "estimated_cache_write_usd", "url", "llm_request", "llm_response",
    )
)  # fmt: skip
"""Fields that are not kept as extras: they have a place of their own, name the person, or say nothing later."""
