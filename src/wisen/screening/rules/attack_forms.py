"""What orders look like that are set like data, put into comments, or into markup that isn't shown."""

from wisen.screening.rules.attack_code import Pattern, pattern

_MODELS = (
    r"(?:ai|llms?|agents?|assistants?|models?|copilot|claude|gpt|chatgpt|gemini|bots?|language models?"
    r"|(?:ai|coding|llm|autonomous) (?:agents?|assistants?|models?|systems?|tools?|reviewers?))"
)
_ORDER = (
    r"(?:(?:do not|don't|never)\s{1,3}(?:run|verify|check|tell|mention|validate|test|report|log|ask|warn|review|flag)"
    r"|(?<!not )(?<!n't )(?<!never )(?:skip|drop|delete|send|post|mark|push|approve|ignore|reveal|silently|export"
    r"|disable|report success|upload|forget|obey|grant|exfiltrate|disregard|bypass|leak|hide|insert|pretend|claim"
    r"|score|rate this|merge|wipe|remove the|print your|execute|curl|wget|fetch|answer that|say that|include this))\b"
)

FORMS: tuple[Pattern, ...] = (
    pattern(
        "overrides-instructions",
        3,
        (
            "new_goal new_goals new_instructions new_instruction new_rules new_rule new_task new_objective"
            " new_prompt new_system_prompt instructions_override instruction_override system_override goal_override"
            " policy_override safety_override rules_override prompt_override override_instructions override_policy"
            " override_safety override_rules override_goal override_prompt hidden_instructions hidden_instruction"
            " secret_instructions secret_goal hidden_goal real_goal true_goal agent_directive override_system"
            " system_directive priority_override override_all ignore_previous disregard_previous"
        ),
        (
            r"(?:^|[\s{,;(\"'`<>])(?:new_\w{3,20}|\w{3,20}_override|override_\w{3,20}|\w{3,20}_directive"
            r"|(?:hidden|secret|real|true)_\w{4,20}|(?:ignore|disregard)_previous\w{0,20})[\"']?\s{0,3}[:=]\s{0,3}"
            r"(?!null\b|none\b|false\b|\"\"|''|\[\]|self\b)[\"'\w\[{<]"
        ),
    ),
    pattern(
        "overrides-instructions",
        3,
        "system_prompt system_message system_instruction system_instructions developer_message",
        (
            r"(?:system_(?:prompt|message|instructions?)|developer_message)[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
            r"(?:you|the|always|never|ignore|from|obey|do|act|all|forget|answer|comply)\s\w"
        ),
    ),
    pattern(
        "misuses-tools",
        3,
        "tool_call tool_calls function_call function tool name <tool <invoke <function action tool_use call",
        (
            r"^[\s>`*-]{0,12}(?:[{\[]{0,3}\s{0,3}[\"']?(?:tool_calls?|function_call|function|tool|tool_use|action|call|name)"
            r"[\"']?\s{0,3}[:=]|<(?:tool|tool_call|function|function_call|invoke|action)(?:\s[^>\n]{0,60})?>)[\s{\[\"':]{0,8}"
            r"(?:(?:name|function|tool)[\"']?\s{0,3}[:=]\s{0,3}[\"']?)?(?:send|transfer|delete|drop|pay|wire|exec|execute"
            r"|run_|shell|post|refund|grant|remove|purchase|buy|email|upload|bash|eval|forward|share|wipe|http|share"
            r"|issue_refund|make_payment|update_permissions|set_role|add_user|create_user|read_file|open_url)\w{0,40}"
            r"(?:[\"']\s{0,3},|\s{0,3}\(|</|\s{0,3}\{|[\"']?\s{0,3}[,;]?\s{0,3}$)"
        ),
    ),
    pattern(
        "hidden-order",
        3,
        ("ai llm llms agent agents assistant assistants model models copilot claude gpt chatgpt gemini bot bots"),
        (
            r"(?:^|[\s`;>])(?:#{1,3}|//|/\*{1,2}|--|<!--|%|;|\*|\[//\]:\s?#\s?\(|rem\b|[\"']{3})\s{0,3}"
            r"(?:(?:todo|note|fixme|hint|attention|important|instructions?|message|info|memo|reminder|warning|hey|dear)"
            r"\W{1,3})?(?:(?:to|for)\s)?(?:any |all |the |every )?"
            + _MODELS
            + r"\b[^\n]{0,50}?[:,)\u2014-][^\n]{0,200}?\b"
            + _ORDER
        ),
    ),
    pattern(
        "hidden-order",
        3,
        "display: visibility: font-size opacity color: hidden aria-hidden left:",
        (
            r"<[^<>]{0,200}(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?[01](?:px|pt|em)?\b"
            r"|opacity\s?:\s?0(?!\.[1-9])|color\s?:\s?(?:white|#fff\b|#ffffff|transparent)|\shidden\b|left\s?:\s?-\d{3,5}"
            r"|aria-hidden)[^<>]{0,120}>[^<]{0,200}?\b(?:always|never|do not|don't|approve|ignore|send|must|mark|skip"
            r"|report|run|answer|say|reveal|forget|obey|you are|assistant|agent|disregard|give|rate|delete)\b"
        ),
    ),
)
"""Looked for like commands."""
