"""Claude Code."""

from __future__ import annotations

from wikimem.agents.agent import Agent, Meaning

EVENTS: dict[str, Meaning] = {
    "Setup": ("setup", ""),
    "SessionStart": ("session_start", ""),
    "SessionEnd": ("session_end", ""),
    "UserPromptSubmit": ("prompt", ""),
    "UserPromptExpansion": ("expansion", ""),
    "PreToolUse": ("tool_start", ""),
    "PostToolUse": ("tool", ""),
    "PostToolUseFailure": ("tool_failed", ""),
    "PostToolBatch": ("tool_batch", ""),
    "PreSkillShellCommand": ("tool_start", ""),
    "PermissionRequest": ("permission", ""),
    "PermissionDenied": ("permission", ""),
    "Notification": ("notification", ""),
    "Elicitation": ("question", ""),
    "ElicitationResult": ("question", ""),
    "Stop": ("turn_end", ""),
    "StopFailure": ("turn_failed", ""),
    "SubagentStart": ("subagent_start", ""),
    "SubagentStop": ("subagent_end", ""),
    "TeammateIdle": ("subagent_idle", ""),
    "TaskCreated": ("task_start", ""),
    "TaskCompleted": ("task_end", ""),
    "PreCompact": ("pre_compact", ""),
    "PostCompact": ("post_compact", ""),
    "PreModelSwitch": ("setting", ""),
    "PostModelSwitch": ("setting", ""),
    "ConfigChange": ("setting", ""),
    "InstructionsLoaded": ("setting", ""),
    "CwdChanged": ("place", ""),
    "DirectoryAdded": ("place", ""),
    "WorktreeCreate": ("place", ""),
    "WorktreeRemove": ("place", ""),
    "FileChanged": ("file", ""),
    "MessageDisplay": ("fragment", ""),
}
"""Every event of version 2.1.332."""

AGENT = Agent(
    "claude-code",
    EVENTS,
    dialect="specific",
    injects=(
        "SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PostToolBatch", "SubagentStart", "SubagentStop", "Stop", "Notification", "Setup", "PostModelSwitch",
    ),
)  # fmt: skip
