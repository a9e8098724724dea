"""The names of placeholders: a text in the form of one is a placeholder only where it has such a name."""

SECRETS = frozenset(
    (
        *("API key", "access key", "access token", "client secret", "code", "connection credentials", "encoded secret"),
        *("password", "password hash", "private key", "licence key", "recovery phrase", "secret"),
        *("session cookie", "webhook address"),
    )
)
"""What rules call the secrets that they find."""
OTHERS = frozenset(
    (
        *("IBAN", "account", "address", "bank-account", "bucket", "card", "certificate", "company-number"),
        *(
            "date of birth",
            "device",
            "driving-licence",
            "e-mail",
            "host",
            "ip",
            "mac",
            "medical-licence",
            "national-id",
        ),
        *("passport", "phone", "plate", "tax-id", "url", "user", "vehicle", "wallet"),
    )
)
"""What rules call personal data and infrastructure."""
