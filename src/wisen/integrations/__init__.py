"""Where agents already work.

`telemetry` shows recalls and lessons as OpenTelemetry spans. Model Context Protocol: `mcp_server`, with `mcp_answers`
and `bearer_tokens`. Frameworks: `pydantic_ai_lessons`, `langchain_lessons` and `openai_agents_lessons` over
`agent_run`, one run as an attempt. Coding agents: `hook_files` puts hooks into their settings, `hook_client` is what
these run, `resident` the process that it asks, `coding_memory` what that answers; `transcript_marks` reads
transcripts on, `session_outcomes` judges, `session_reflection` asks a model.
"""
