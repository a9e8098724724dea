"""Samples of secrets, drawn anew with each seed: no file of the project holds a string that looks like one."""

import base64
import random
import string
from collections.abc import Callable

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
HEX = "0123456789abcdef"
DASH = ALNUM + "-_"
BASE64 = ALNUM + "+/"
DIGITS = string.digits


class Samples:
    """Draws secrets of many kinds."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def draw(self, alphabet: str, length: int) -> str:
        return "".join(self._random.choice(alphabet) for _ in range(length))

    def uuid(self) -> str:
        return "-".join(self.draw(HEX, length) for length in (8, 4, 4, 4, 12))

    def prefixed(self) -> dict[str, str]:
        """Secrets that are known by their beginnings."""
        draw = self.draw
        return {
            "aws": "AKIA" + draw(BASE32, 16),
            "aws-session": "ASIA" + draw(BASE32, 16),
            "google": "AIza" + draw(DASH, 35),
            "google-oauth": "GOCSPX-" + draw(DASH, 28),
            "google-access": "ya29." + draw(DASH, 90),
            "azure": draw(ALNUM, 3) + "8Q~" + draw(DASH, 34),
            "github": "ghp_" + draw(ALNUM, 36),
            "github-fine": "github_pat_" + draw(ALNUM, 22) + "_" + draw(ALNUM, 59),
            "gitlab": "glpat-" + draw(DASH, 20),
            "gitlab-runner": "glrt-" + draw(DASH, 20),
            "slack-bot": f"xoxb-{draw(DIGITS, 12)}-{draw(DIGITS, 12)}-{draw(ALNUM, 24)}",
            "slack-app": f"xapp-1-{draw(UPPER, 11)}-{draw(DIGITS, 13)}-{draw(HEX, 64)}",
            "stripe": "sk_live_" + draw(ALNUM, 24),
            "stripe-webhook": "whsec_" + draw(ALNUM, 32),
            "twilio": "SK" + draw(HEX, 32),
            "sendgrid": f"SG.{draw(DASH, 22)}.{draw(DASH, 43)}",
            "npm": "npm_" + draw(ALNUM, 36),
            "pypi": "pypi-AgEIcHlwaS5vcmc" + draw(DASH, 80),
            "openai": f"sk-{draw(ALNUM, 20)}T3BlbkFJ{draw(ALNUM, 20)}",
            "openai-project": "sk-proj-" + draw(DASH, 100),
            "anthropic": "sk-ant-api03-" + draw(DASH, 93),
            "huggingface": "hf_" + draw(string.ascii_letters, 34),
            "databricks": "dapi" + draw(HEX, 32),
            "vault": "hvs." + draw(DASH, 95),
            "terraform": draw(ALNUM, 14) + ".atlasv1." + draw(DASH, 65),
            "shopify": "shpat_" + draw(HEX, 32),
            "square": "sq0atp-" + draw(DASH, 22),
            "discord": f"M{draw(ALNUM, 23)}.{draw(DASH, 6)}.{draw(DASH, 27)}",
            "telegram": f"{draw('123456789', 9)}:AA{draw(DASH, 33)}",
            "mailgun": "key-" + draw(HEX, 32),
            "newrelic": "NRAK-" + draw(UPPER, 27),
            "grafana": f"glsa_{draw(ALNUM, 32)}_{draw(HEX, 8)}",
            "sentry": "sntryu_" + draw(HEX, 64),
            "okta": "00" + draw(DASH, 40),
            "digitalocean": "dop_v1_" + draw(HEX, 64),
            "linear": "lin_api_" + draw(ALNUM, 40),
            "notion": "ntn_" + draw(DIGITS, 11) + draw(ALNUM, 35),
            "atlassian": "ATATT3xFfGF0" + draw(DASH, 170) + "=" + draw(UPPER, 8),
            "heroku": "HRKU-AA" + draw(DASH, 58),
            "doppler": "dp.pt." + draw(ALNUM, 43),
            "postman": f"PMAK-{draw(HEX, 24)}-{draw(HEX, 34)}",
            "age": "AGE-SECRET-KEY-1" + draw("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
            "jwt": f"eyJ{draw(ALNUM, 17)}.eyJ{draw(ALNUM, 40)}.{draw(DASH, 43)}",
            "artifactory": "AKCp" + draw(ALNUM, 69),
        }

    def formed(self) -> dict[str, tuple[str, str]]:
        """Texts with a secret that is known by the form around it, and the secret."""
        draw = self.draw

        def within(before: str, secret: str, after: str = "") -> tuple[str, str]:
            return before + secret + after, secret

        basic = base64.b64encode(b"joe:" + draw(ALNUM, 9).encode()).decode()
        body = "\n".join(draw(BASE64, 64) for _ in range(4))
        return {
            "database-address": within("postgres" + "://", "joe:" + draw(ALNUM, 10), "@db:5432/app"),
            "queue-address": within("amqps" + "://", "joe:" + draw(ALNUM, 6) + "@!", "@10.0.0.7:5671/v"),
            "token-address": within("git clone https" + "://", draw(ALNUM, 40), "@example.com/a/b.git"),
            "bearer": within("Authorization: " + "Bearer ", draw(DASH, 30)),
            "basic": within("Authorization: " + "Basic ", basic),
            "curl": within("curl -u ", "joe:" + draw(ALNUM, 8), " https://example.com"),
            "mysql": within("mysql -u root -p", draw(ALNUM, 9), " shop"),
            "sshpass": within("sshpass -p ", draw(ALNUM, 9), " ssh joe@example.com"),
            "npmrc": within("//registry.example.com/:_authToken=", self.uuid()),
            "netrc": within("machine example.com\n  login joe\n  password ", draw(string.ascii_lowercase, 9)),
            "pgpass": within("db.example.com:5432:app:joe:", draw(ALNUM, 9)),
            "azure-storage": within("AccountName=a;AccountKey=", draw(BASE64, 86) + "==", ";EndpointSuffix=b"),
            "shared-access": within("https://x.example.com/c?sv=1&sig=", draw(ALNUM, 42) + "%3D"),
            "odbc": within("Server=db;Uid=joe;Pwd=", draw(string.ascii_lowercase, 8), ";Database=app"),
            "bcrypt": within("root:", "$2b$12$" + draw(ALNUM, 53)),
            "crypt": within("root:", f"$6${draw(ALNUM, 8)}${draw(ALNUM, 86)}", ":19000:0"),
            "slack-hook": within(
                "post to ", f"https://hooks.slack.com/services/T{draw(UPPER, 8)}/B{draw(UPPER, 8)}/{draw(ALNUM, 24)}"
            ),
            "discord-hook": within(
                "post to ", f"https://discord.com/api/webhooks/{draw(DIGITS, 18)}/{draw(DASH, 68)}", " then"
            ),
            "cookie": within("Set-Cookie: sessionid=", draw(LOWER, 32), "; HttpOnly"),
            "key-file": within("", f"-----BEGIN {'RSA'} PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----", "\n"),
            "key-in-json": within(
                '"private_key": "',
                f"-----BEGIN {'PRIVATE'} KEY-----\\n{draw(BASE64, 64)}\\n-----END PRIVATE KEY-----",
                '\\n"',
            ),
            "pgp": within(
                "", f"-----BEGIN {'PGP'} PRIVATE KEY BLOCK-----\n\n{body}\n-----END PGP PRIVATE KEY BLOCK-----"
            ),
            "key-cut-off": within("", f"-----BEGIN {'EC'} PRIVATE KEY-----\n{body}"),
            "putty": within(
                "", f"PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 4\n{body}\nPrivate-MAC: {draw(HEX, 40)}"
            ),
        }

    def values(self) -> dict[str, str]:
        """Values that only the name before them makes secrets."""
        draw = self.draw
        return {
            "hex-32": draw(HEX, 32),
            "hex-64": draw(HEX, 64),
            "lower-20": draw(LOWER, 20),
            "mixed-24": draw(ALNUM, 24),
            "mixed-40": draw(ALNUM, 40),
            "uuid": self.uuid(),
            "base64": draw(BASE64, 43) + "=",
            "upper-20": draw(UPPER, 20),
            "dashed-32": draw(DASH, 32),
        }

    def passwords(self) -> dict[str, str]:
        """Passwords as people choose them."""
        draw: Callable[[str, int], str] = self.draw
        return {
            "word-and-digits": draw(string.ascii_lowercase, 6) + draw("123456789", 3),
            "marks": "S" + draw(string.ascii_lowercase, 5) + draw(DIGITS, 2) + "!",
            "long": "a" + draw(ALNUM + "!@%^*", 16) + "7a",
        }
