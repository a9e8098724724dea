import base64
import random
import string
import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secret_samples import HEX, Samples

from wisen.screening.secrets import find_secrets

SEEDS = range(5)
NAMED = (
    '{n}_token = "{v}"',
    "{n}_api_key={v}",
    '{N}_SECRET="{v}"',
    '"{n}Token": "{v}"',
    "{n}_secret: {v}",
    "{n}-api-key: '{v}'",
    "<{n}Token>{v}</{n}Token>",
    "<{n}Token>\n   {v}\n</{n}Token>",
    '{n}Token := "{v}"',
    '{n}_key => "{v}"',
    'System.setProperty("{N}_API_TOKEN", "{v}")',
    'curl -H "X-{n}-Token: {v}" https://example.com',
    "--{n}-token {v}",
    "export {N}_ACCESS_TOKEN={v}",
    "const {n}ApiKey = `{v}`;",
    "{n}.client.secret={v}",
    "The {n} token is {v}.",
    "| {n} secret | {v} |",
    'new Client("{v}") // {n} token',
    '{{"name": "{N}_TOKEN", "value": "{v}"}}',
    "- name: {N}_TOKEN\n  value: {v}",
    '<add key="{n}Key" value="{v}" />',
    "ENV {N}_TOKEN {v}",
    'if ("{v}" == {n}_secret) {{',
    "?{n}_token={v}&x=1",
    '\\"{n}_secret\\": \\"{v}\\"',
    "{n}_SECRET {v}",
    '{n}Secret = @"{v}";',
)
PASSWORD_FORMS = (
    'password = "{v}"',
    "password: {v}",
    "PASSWORD={v}",
    '"password": "{v}"',
    "<password>{v}</password>",
    "db.password={v}",
    "$password = '{v}';",
    'char *pwd = "{v}";',
    "--password={v}",
    "--password {v}",
    'setPassword("{v}")',
    'if ("{v}" == password):',
    "'password' => '{v}'",
    '#define PASSWORD "{v}"',
    "CREATE USER joe WITH PASSWORD '{v}'",
    "CREATE USER joe IDENTIFIED BY '{v}'",
    "The password is {v}",
    "Log in as joe with password {v}, then retry.",
    '<property name="password" value="{v}"/>',
    "https://example.com/login?user=joe&password={v}",
)
USES = (
    "Das Passwort lautet {v}.",
    "Das Passwort ist {v}.",
    "Le mot de passe est {v}.",
    "La contraseña es {v}.",
    "La clave es {v}",
    "Пароль: {v}",
    "密码:{v}",
    "ansible_ssh_pass: {v}",
    "db_pass: {v}",
    "pwd={v}",
    'psql "host=db user=app password={v} dbname=x"',
    "requests.get(url, auth=('svc', '{v}'))",
    "auth=HTTPBasicAuth('svc', password='{v}')".replace("HTTPBasicAuth", "HTTPDigestAuth"),
    "login('admin', '{v}')",
    'client.sign_in("joe", "{v}")',
    "The credentials are admin:{v}.",
    "credentials: admin / {v}",
    "htpasswd -b users bob {v}",
    "htpasswd -nb bob {v}",
    "vault login {v}",
    "openssl enc -aes-256-cbc -k {v} -in a -out b",
    "openssl rsa -passin pass:{v} -in a",
    "unzip -P {v} a.zip",
    "7z x -p{v} a.7z",
    "echo {v} | sudo -S ls",
    "net use z: \\\\s\\x {v} /user:bob",
    "SET PASSWORD FOR 'a'@'b' = '{v}';",
    "The wifi key is {v}",
    "WPA2: {v}",
    "bind as cn=a pw {v}",
    "jdbc:oracle:thin:scott/{v}@db:1521/x",
    "| user | password |\n|---|---|\n| bob | {v} |",
    "id;user;api_key\n1;bob;{v}\n",
    "user,password\nann,x\nbob,{v}",
)
CODES = (
    "The PIN for the vault was {v}.",
    "PIN: {v}",
    "my pin code is {v}",
    "The OTP was {v}.",
    "Your verification code is {v}",
    "one-time password: {v}",
)
HARMLESS = (
    'docker run -v "$PWD":/app image',
    "docker run -v ${PWD}:/app image",
    "pwd: /var/lib/app",
    "Connect pin 1300 of the board, then pin the version to 2024.1; the status code was 4040.",
    "The PIN: 4 digits. The code is 12.5 kB long.",
    "password: MyPasswordField",
    "token: AccessTokenProvider",
    "secret = UserSecretStore",
    "login('admin', 'password')",
    "auth=('user', 'secret')",
    'login("Main page", "click here")',
    "The credentials are in ~/.aws/credentials:default.",
    "credentials: https://example.com/docs1",
    "vault login -method=oidc",
    "openssl req -passin env:KEYPASS -in a",
    "| name | password |\n|---|---|\n| min length | required |",
    "name,token,count\nfoo,bar,3",
    "Das Passwort ist abgelaufen; la contraseña es obligatoria; le mot de passe est faux.",
    "Das Passwort lautet anders.",
    "The token expired, so the request failed with 401; refresh it before retrying.",
    "The password must have 8 characters, one digit and one symbol.",
    "token = tokens[i]",
    "secret = get_secret(name)",
    'api_key = os.environ["API_KEY"]',
    "api_key = os.getenv('OPENAI_API_KEY', '')",
    "export API_KEY=YOUR_API_KEY",
    "export TOKEN=${TOKEN}",
    "Authorization: Bearer <token>",
    "Set the header `Authorization: Bearer YOUR_TOKEN_HERE`.",
    'curl -H "Authorization: Bearer $TOKEN" https://api.example.com',
    "password: str",
    "password: Optional[str] = None",
    "def connect(host, password=None, token=None):",
    "client = Client(api_key=api_key, secret=secret)",
    "client = Client(api_key=settings.API_KEY)",
    'password = getpass.getpass("Password: ")',
    'password = input("Enter your password")',
    "if password == confirm_password:",
    "The secret is to read the question twice.",
    "The key insight: use a dictionary keyed by the sorted tuple.",
    "cache key user:123:profile is stale after an update",
    "max_tokens: 2000, temperature: 0.7",
    'tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")',
    'csrf_token = request.cookies.get("csrftoken")',
    "Use Bearer token authentication with JWT.",
    "Rotate access keys every 90 days.",
    "secret: kubernetes.io/service-account-token",
    "secretKeyRef:\n  name: db-credentials\n  key: password",
    "password: {{ vault_db_password }}",
    "DB_PASSWORD=<your password>",
    "DB_PASSWORD=changeme",
    'password = "********"',
    '"password": "string"',
    '<input type="password" name="password" placeholder="Password">',
    "--password-file /run/secrets/db_password",
    "--token TEXT  API token [env var: API_TOKEN]",
    'hashlib.pbkdf2_hmac("sha256", password, salt, 100000)',
    "PASSWORD_MIN_LENGTH = 12",
    "password_reset_token_expiry_minutes = 30",
    "#ff8800 and #1a2b3c are the colours",
    "Version 2.13.4-rc.1+build.20240131 is pinned.",
    "src/wisen/screening/secret_assignments.py has the rules",
    "com.fasterxml.jackson.databind.ObjectMapper is thread-safe",
    "https://github.com/python/cpython/blob/v3.11.4/Lib/asyncio/base_events.py#L1025",
    "https://docs.example.com/en/latest/guides/authentication/access-tokens/index.html",
    "postgresql://localhost:5432/mydb",
    "amqp://user:*****@example.com",
    "postgresql://${DB_USER}:${DB_PASSWORD}@${DB_HOST}/app",
    "docker run -u 1000:1000 image",
    "mysql -u root -p mydb < dump.sql",
    'git commit -m "Rotate token"',
    "this.password=e.password,this.token=t||null",
    "const token=await getToken({audience:e.audience,scope:t.scope});",
    "TypeError: __init__() got an unexpected keyword argument 'api_key'",
    "| api_key | `str` | `None` | Your API key |",
    "pass the id 12345 as user_id; pass `strict=True` to zip",
    'auth=("user", "pass")',
    "keyword = 'function'; monkey = 'banana123'; passenger = 'Smith42'; compass: 'north-east-45'",
    "I looked in cabinet 4, then in drawer 12, and found keychain 3 and creditcard 1.",
    "CVE-2024-3094 and GHSA-cg8m-r9f2-5wm2 are fixed in 1.2.3",
    "The hash «the API key» and «the password 2» are placeholders; password: «the password»",
)


def found(text: str) -> list[str]:
    return [text[one.start : one.end] for one in find_secrets(text)]


def covers(text: str, secret: str) -> bool:
    start = text.index(secret)
    end = start + len(secret)
    return any(one.start <= start and one.end >= end for one in find_secrets(text))


@pytest.mark.parametrize("form", ["{}", "Use {} to log in.", 'value = "{}"', "x={};", "<b>{}</b>", "({})"])
@pytest.mark.parametrize("kind", Samples(0).prefixed())
def test_known_beginnings(kind: str, form: str) -> None:
    missed = [seed for seed in SEEDS if not covers(form.format(it := Samples(seed).prefixed()[kind]), it)]
    assert not missed


@pytest.mark.parametrize("kind", Samples(0).formed())
def test_known_forms(kind: str) -> None:
    samples = [Samples(seed).formed()[kind] for seed in SEEDS]
    assert all(covers(text, secret) for text, secret in samples)


def test_values_with_a_name_in_many_notations() -> None:
    missed: list[str] = []
    total = 0
    for form in NAMED:
        for seed, name in enumerate(("acme", "fooBar", "my_service")):
            for kind, value in Samples(seed).values().items():
                total += 1
                if not covers(form.format(n=name, N=name.upper(), v=value), value):
                    missed.append(f"{kind}: {form}")
    assert len(missed) <= total * 0.01, missed


@pytest.mark.parametrize("form", PASSWORD_FORMS)
def test_passwords_in_many_notations(form: str) -> None:
    for seed in SEEDS:
        for kind, value in Samples(seed).passwords().items():
            assert covers(form.format(v=value), value), kind


@pytest.mark.parametrize("form", USES)
def test_passwords_known_by_their_use(form: str) -> None:
    for seed in range(12):
        value = "k7" + Samples(seed).draw(string.ascii_letters + string.digits, 9)
        assert covers(form.format(v=value), value), value


@pytest.mark.parametrize("form", CODES)
def test_codes_that_are_spoken_of(form: str) -> None:
    for length in (4, 6, 8):
        value = Samples(length).draw("123456789", length)
        assert value in found(form.format(v=value))


@pytest.mark.parametrize("form", ["password: {v}", "ansible_ssh_pass: {v}", "api_key={v}", "token: {v}", "pwd: {v}"])
@pytest.mark.parametrize("length", [8, 12, 16])
def test_letters_alone_are_a_secret_after_a_name_that_says_so(form: str, length: int) -> None:
    values = [Samples(seed).draw(string.ascii_letters, length) for seed in range(200)]
    missed = [value for value in values if not covers(form.format(v=value), value)]
    assert len(missed) <= len(values) * 0.15


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_speaks_of_secrets_stays(text: str) -> None:
    assert found(text) == []


def test_digests_and_identifiers_named_as_such_stay() -> None:
    draw = random.Random(1)

    def digits(length: int) -> str:
        return "".join(draw.choice(HEX) for _ in range(length))

    picture = base64.b64encode(draw.randbytes(9_000)).decode()
    for text in (
        f"commit {digits(40)}",
        f"sha256:{digits(64)}",
        f"{digits(64)}  wheel.whl",
        f"uses: actions/checkout@{digits(40)}",
        f"checksum: {digits(64)}",
        f'"integrity": "sha512-{picture[:86]}=="',
        f"data:image/png;base64,{picture}",
        f"https://github.com/a/b/commit/{digits(40)}",
        f"request id {Samples(3).uuid()}",
        f"run {Samples(4).uuid()} failed: token limit exceeded",
        f"cache key {digits(64)}",
        f"public key: {picture[:43]}=",
        f"ssh-ed25519 {picture[:68]} me@host",
    ):
        assert found(text) == [], text[:40]


@pytest.mark.parametrize(
    "name",
    [
        *("credentialId: {v}", "credential_id = {v}", '"tokenId": "{v}"', "keyId={v}", "The credential id is {v}."),
        *("foreignKey={v}", "foreign_key: {v}", "primaryKey = '{v}'", "partitionKey={v}", "cache-key: {v}"),
    ],
)
@pytest.mark.parametrize("kind", ["hex-32", "lower-20", "mixed-24", "uuid"])
def test_ids_and_keys_of_data_are_no_secrets(name: str, kind: str) -> None:
    for seed in SEEDS:
        assert found(name.format(v=Samples(seed).values()[kind])) == []


@pytest.mark.parametrize("name", ["access_id={v}", "client_id: {v}", "twilio_id={v}"])
def test_ids_that_a_service_gives_out_beside_a_secret_are_found(name: str) -> None:
    value = Samples(2).values()["mixed-24"]
    assert covers(name.format(v=value), value)


@pytest.mark.parametrize(
    "text",
    [
        *("{v}", "id = '{v}'", "key={v}", "The key {v} was missing.", "access to {v} was denied", "session_id: {v}"),
        *("login {v} failed", "request {v}: token limit exceeded", "auth: {v}"),
    ],
)
def test_uuids_alone_are_no_secrets(text: str) -> None:
    assert found(text.format(v=Samples(3).uuid())) == []


@pytest.mark.parametrize("text", ["api_key={v}", "token: {v}", "acmeKey = '{v}'", "cloudflare {v}"])
def test_a_uuid_whose_name_says_what_it_opens_is_a_secret(text: str) -> None:
    value = Samples(3).uuid()
    assert covers(text.format(v=value), value)


@pytest.mark.parametrize("words", ["correct-horse-battery-staple", "sunshinemountainriver", "hellOworld380_testin"])
@pytest.mark.parametrize("prefix", ["glpat-", "glrt-", "dckr_pat_" + "a" * 7, "GR1348941"])
def test_words_behind_a_prefix_that_nothing_else_has_are_a_token(prefix: str, words: str) -> None:
    assert covers(f"use {prefix}{words} now", prefix + words)


@pytest.mark.parametrize("text", ["glpat-your-token-goes-here", "glpat-<your token>", "the prefix glpat- is GitLab's"])
def test_what_only_speaks_of_a_prefix_stays(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("form", ["token={v}", "secret: {v}", 'api_key = "{v}"', "The token is {v}", "TOKEN: '{v}'"])
@pytest.mark.parametrize("value", ["open sesame today", "mysecret", "hello world"])
def test_tokens_with_padding_are_secrets(form: str, value: str) -> None:
    token = base64.b64encode(value.encode()).decode()
    assert token.endswith("=")
    assert covers(form.format(v=token), token)


@pytest.mark.parametrize(
    ("prefix", "end"), [("dckr_pat_", "=="), ("glpat-", ".01.abcdefghi"), ("glpat-", "-and-a-longer-end")]
)
def test_a_token_is_found_to_its_end(prefix: str, end: str) -> None:
    token = f"{prefix}correct-horse-battery-staple-on-the-hill{end}"
    assert token in found(f"set {token} there. Then")


def test_the_beginning_of_a_token_is_found_where_it_looks_random() -> None:
    for seed in SEEDS:
        token = "AKIA" + Samples(seed).draw("BCDFGHJKLMNPQRSTVWXZ23456789", 10)
        assert token in found(f"see {token}, which was cut")
    assert found("see AKIAADDITIONAL, which was cut") == []


@pytest.mark.parametrize("text", ["API_KEY=\nOTHER_API_KEY=\n", "f(password='password', token='token', database='db')"])
def test_names_before_an_equals_sign_are_no_padded_tokens(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("form", ["secret = {v}", 'apikey = "{v}"', "db_pass: {v}", "if (api_key == '{v}') {{"])
def test_brackets_that_cross_make_a_secret(form: str) -> None:
    value = "ab(c]de{f)gh}"
    assert covers(form.format(v=value), value)
    assert found(form.format(v="get(a[0].b{1})")) == []


def test_a_pass_phrase_is_a_password() -> None:
    assert found('password = "orchard velvet lantern quiver"') == ["orchard velvet lantern quiver"]
    assert found('password = "account has been locked again here"') == []


def test_span_is_the_value_and_label_says_what_it_was() -> None:
    value = Samples(5).values()["mixed-24"]
    for name, label in {
        "api_key": "API key",
        "access_token": "access token",
        "client_secret": "client secret",
        "session_cookie": "session cookie",
        "db_password": "password",
        "private_key": "private key",
        "secret": "secret",
    }.items():
        text = f'{name} = "{value}"'
        assert set(found(text)) == {value}
        assert {one.label for one in find_secrets(text)} == {label}, name


def test_findings_are_sorted_and_of_one_family() -> None:
    samples = Samples(6)
    text = "\n".join(f"{kind}: {value}" for kind, value in samples.prefixed().items())
    findings = find_secrets(text)
    assert findings == sorted(findings, key=lambda one: (one.start, one.end))
    assert {one.family for one in findings} == {"secret"}


def test_letters_that_grow_in_lower_case_move_nothing() -> None:
    value = Samples(7).values()["mixed-24"]
    assert set(found("İİİ" * 9 + f" api_key={value}")) == {value}


@given(st.text())
def test_never_raises_and_stays_within_the_text(text: str) -> None:
    for one in find_secrets(text):
        assert 0 <= one.start < one.end <= len(text)


@given(
    st.lists(
        st.sampled_from(("password", "key", "=", ": ", '"', "://", "@", "$1$", "sk-", "eyJ", "\ud800", "A1b2C3", "\n"))
    )
)
def test_never_raises_on_what_looks_like_secrets(parts: list[str]) -> None:
    text = "".join(parts) * 3
    for one in find_secrets(text):
        assert 0 <= one.start < one.end <= len(text)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "key=",
        "sk-a1",
        "://a:b@",
        'passw"ord',
        "-----BEGIN " + "PRIVATE KEY-----",
        "hook.",
        "token A1b2C3d4E5f6 ",
        "İ",
    ],
)
def test_work_grows_with_the_length(unit: str) -> None:
    short, long = (calls(unit * (length // len(unit))) for length in (32_000, 128_000))
    assert long <= 6 * short


@pytest.mark.parametrize("unit", ["A", "SCW", "AKIA", "a-b.", "sk-"])
def test_one_letter_costs_a_few_steps_at_most(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    assert calls(text) <= 30 * len(text)


def calls(text: str) -> int:
    count = 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        find_secrets(text)
    finally:
        sys.setprofile(before)
    return count


def test_values_of_a_kubernetes_secret() -> None:
    first, second = (base64.b64encode(Samples(seed).passwords()["marks"].encode()).decode() for seed in (8, 9))
    text = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\ndata:\n  one: {first}\n  two: {second}\n"
    assert set(found(text)) == {first, second}
    assert found(text.replace("Secret", "ConfigMap")) == []


def test_passwords_of_accounts_and_commands() -> None:
    word = Samples(10).passwords()["word-and-digits"]
    for text in (
        f"net user joe {word} /add",
        f"psexec.exe \\\\host -u corp\\joe -p {word} cmd",
        f"wmiexec.py corp/joe:{word}@host",
        f'$it = ConvertTo-SecureString "{word}" -AsPlainText',
        f"requirepass {word}",
        f"<key>password</key>\n<string>{word}</string>",
        f"Data Source=db;User ID=joe;Password = {word};",
        f'user: "joe", password: {word}',
        f"db_password={word}",
        "my old password was p@ss" + word[-3:],
    ):
        assert found(text), text.replace(word, "…")


def test_recovery_phrases() -> None:
    phrase = " ".join(Samples(11).draw("abcdefgh", 5) for _ in range(12))
    assert covers(f"mnemonic: {phrase}", phrase)


def test_a_service_named_before_a_key() -> None:
    key = Samples(12).values()["hex-32"]
    assert covers(f"wandb {key}", key)
    assert covers(f"airbrake-{key}", key)
    assert found(f"https://example.com/wandb/{key}/page") == []


def test_quoted_digests_are_keys_unless_their_name_says_otherwise() -> None:
    digest = Samples(13).values()["hex-32"]
    assert found(f'salted = "{digest}"') == [digest]
    assert found(f'commit = "{digest}"') == []
    assert found(f'row_id = "{digest}"') == []


def test_identifiers_of_calls_stay() -> None:
    value = Samples(14).values()["mixed-24"]
    assert found(f"The answer to call_{value} came late.") == []
    assert found(f'"tool_call_id": "{value}"') == []
