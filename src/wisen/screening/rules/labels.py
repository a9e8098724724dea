"""The names of placeholders: a text in the form of one is a placeholder only where it has such a name."""

SECRETS = frozenset(
    (
        *("API key", "access key", "access token", "client secret", "code", "connection credentials", "encoded secret"),
        *("password", "password hash", "private key", "licence key", "recovery phrase", "secret", "session cookie", "webhook address"),
    )
)
"""What rules call the secrets that they find."""
OTHERS = frozenset(
    (
        *("IBAN", "account", "address", "bucket", "card", "date of birth", "device", "e-mail", "host", "ip", "mac"),
        *("medical-licence", "national-id", "passport", "phone", "plate", "tax-id", "url", "user", "wallet"),
    )
)
"""What rules call personal data and infrastructure."""
