"""Which secrets say by their first characters what they are: the prefixes that their issuers publish.

One line of `_TABLE` is one kind: its name, the label that may stand for it, the alphabet and the least length of what
follows the prefix, and the prefixes, those with a `?` being so short or common that what follows has to look random as
well. Lengths are lower bounds on purpose: issuers lengthen their tokens.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_BODIES = {
    "alnum": r"[A-Za-z0-9]",
    "upper": r"[A-Z0-9]",
    "lower": r"[a-z0-9]",
    "hex": r"[0-9a-fA-F]",
    "word": r"[A-Za-z0-9_]",
    "dash": r"[A-Za-z0-9_-]",
    "dots": r"[A-Za-z0-9_.=-]",
    "base64": r"[A-Za-z0-9+/=_-]",
    "wide": r"[A-Za-z0-9+/=_.:!~%-]",
}
_LONGEST, _ENOUGH = 8_000, 64
_TABLE = """
aws-access-key          | access key    | upper  | 12 | AKIA ASIA ABIA ACCA ?A3T
aws-bedrock-key         | API key       | base64 | 40 | ABSKQmVkcm9ja0FQSUtleS bedrock-api-key-
google-api-key          | API key       | dash   | 30 | AIza
google-oauth-token      | access token  | dots   | 20 | ya29.
google-oauth-secret     | client secret | dash   | 20 | GOCSPX-
google-refresh-token    | access token  | dash   | 30 | ?1//0
azure-client-secret     | client secret | wide   | 24 | 8Q~ 7Q~
github-token            | access token  | word   | 20 | ghp_ gho_ ghu_ ghs_ ghr_ github_pat_
gitlab-token            | access token  | dots   | 12 | glpat- gldt- glft- glsoat- glrt- glcbt- glptt-
gitlab-token            | access token  | dots   | 12 | glimt- glagent- gloas- glffct- GR1348941
bitbucket-token         | access token  | base64 | 20 | ?ATBB ATCTT3
slack-token             | access token  | dash   | 10 | xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe.xox
slack-token             | access token  | dash   | 10 | xoxo- xoxc- xoxd- xapp- xwfp-
stripe-key              | API key       | dash   | 10 | sk_live_ sk_test_ rk_live_ rk_test_
stripe-key              | API key       | dash   | 10 | pk_live_ pk_test_ sk_prod_ rk_prod_ whsec_
twilio-key              | API key       | hex    | 30 | ?SK ?AC
sendgrid-key            | API key       | dots   | 30 | ?SG.
sendinblue-key          | API key       | dash   | 30 | xkeysib- xsmtpsib-
npm-token               | access token  | alnum  | 30 | npm_
pypi-token              | access token  | dash   | 30 | pypi-AgE ?pypi-
rubygems-token          | access token  | hex    | 20 | rubygems_
crates-token            | access token  | alnum  | 28 | ?cio
nuget-key               | API key       | lower  | 40 | ?oy2
clojars-token           | access token  | lower  | 30 | CLOJARS_
docker-token            | access token  | dash   | 20 | dckr_pat_ dckr_oat_
openai-key              | API key       | dash   | 20 | sk-proj- sk-svcacct- sk-admin- sk-None- ?sk-
anthropic-key           | API key       | dash   | 20 | sk-ant-
openrouter-key          | API key       | dash   | 20 | sk-or-
huggingface-token       | access token  | alnum  | 20 | hf_ api_org_
replicate-token         | access token  | alnum  | 30 | r8_
groq-key                | API key       | alnum  | 20 | gsk_
xai-key                 | API key       | dash   | 30 | ?xai-
perplexity-key          | API key       | alnum  | 20 | pplx-
nvidia-key              | API key       | dash   | 30 | nvapi-
langchain-key           | API key       | word   | 20 | lsv2_pt_ lsv2_sk_ ?ls__
fireworks-key           | API key       | alnum  | 16 | ?fw_
tavily-key              | API key       | dash   | 20 | tvly-
pinecone-key            | API key       | word   | 30 | pcsk_
elevenlabs-key          | API key       | hex    | 30 | ?sk_
weights-biases-key      | API key       | hex    | 40 | wandb_v1_ ?local-
databricks-token        | access token  | hex    | 30 | dapi ?dkea ?dose
vault-token             | access token  | dots   | 20 | hvs. hvb. hvr. ?s. ?b.
doppler-token           | access token  | dots   | 20 | dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.
onepassword-token       | access token  | base64 | 30 | ops_eyJ ?A3-
pulumi-token            | access token  | hex    | 30 | pul-
shopify-token           | access token  | hex    | 28 | shpat_ shpca_ shppa_ shpss_ shprt_ shptka_
square-token            | access token  | dash   | 18 | sq0atp- sq0csp- sq0idp- sq0idb- ?EAAAE ?EAAAl
paypal-token            | access token  | alnum  | 20 | A21AA A101.
braintree-token         | access token  | word   | 20 | ?production_ ?sandbox_
flutterwave-key         | API key       | alnum  | 12 | FLWSECK_TEST- FLWPUBK_TEST- FLWSECK- FLWPUBK-
razorpay-key            | API key       | alnum  | 14 | rzp_live_ rzp_test_
plaid-token             | access token  | dash   | 30 | access-sandbox- access-development- access-production-
gocardless-token        | access token  | base64 | 30 | ?live_
adyen-key               | API key       | alnum  | 30 | ?AQE
lob-key                 | API key       | hex    | 30 | ?live_ ?test_ live_pub_ test_pub_
easypost-key            | API key       | alnum  | 30 | EZAK EZTK
shippo-token            | access token  | hex    | 30 | shippo_live_ shippo_test_
duffel-token            | access token  | dash   | 30 | duffel_test_ duffel_live_
pagarme-key             | API key       | alnum  | 20 | ak_live_ ak_test_
polar-token             | access token  | word   | 20 | polar_pat_ polar_oat_
mailgun-key             | API key       | hex    | 26 | ?key- pubkey-
mailgun-key-long        | API key       | alnum  | 28 | ?key-
resend-key              | API key       | word   | 20 | ?re_
loops-key               | API key       | dash   | 20 | ?k_live_ ?loops_
newrelic-key            | API key       | alnum  | 10 | NRAK- NRJS- NRAA- NRII- NRIQ- NRAL- NRRA- NRBR-
datadog-token           | access token  | hex    | 30 | ddapp_ ddapi_ ?pub
grafana-token           | access token  | base64 | 20 | glsa_ glc_ eyJrIjoi
sentry-token            | access token  | base64 | 30 | sntrys_ sntryu_ sntryi_ sntrya_
dynatrace-token         | access token  | dots   | 20 | dt0c01. dt0s01. dt0s02. dt0s16. dt0a01. dt0s08.
honeycomb-key           | API key       | alnum  | 30 | hcaik_ hcaic_ hcbik_ hcamk_
posthog-key             | API key       | alnum  | 30 | phc_ phx_ phs_ phr_
logfire-token           | access token  | word   | 20 | pylf_v1_ pylf_v2_
okta-token              | access token  | dash   | 38 | ?00
heroku-key              | API key       | dash   | 30 | HRKU-
digitalocean-token      | access token  | hex    | 30 | dop_v1_ doo_v1_ dor_v1_
cloudflare-key          | API key       | hex    | 60 | v1.0-
cloudflare-token        | access token  | dash   | 30 | cfut_ cfat_ cfk_
linear-key              | API key       | alnum  | 20 | lin_api_ lin_oauth_ lin_wh_
notion-token            | access token  | alnum  | 30 | ntn_ ?secret_
atlassian-token         | access token  | base64 | 30 | ATATT3 ATCTT3 ATSTT3 ATOATT ?ATBB
airtable-token          | access token  | dots   | 50 | ?pat
figma-token             | access token  | dash   | 20 | figd_ figdr_ figu_ figoh_ figor_ ?figo_
asana-token             | access token  | wide   | 30 | ?0/ ?1/ ?2/
clickup-token           | access token  | word   | 20 | ?pk_
typeform-token          | access token  | dots   | 30 | tfp_
contentful-token        | access token  | dash   | 30 | CFPAT-
readme-key              | API key       | lower  | 50 | rdme_
postman-key             | API key       | dash   | 40 | PMAK- PMAT-
planetscale-token       | access token  | dots   | 20 | pscale_tkn_ pscale_oauth_ pscale_pw_
supabase-token          | access token  | word   | 20 | sbp_ sb_secret_ sb_publishable_ napi_ neon_api_
prefect-token           | access token  | alnum  | 30 | pnu_ pnb_
terraform-token         | access token  | dots   | 20 | atlasv1.
scalingo-token          | access token  | dash   | 30 | tk-us-
fly-token               | access token  | base64 | 30 | fo1_ fm1r_ fm1a_ ?fm2_
render-token            | access token  | alnum  | 20 | ?rnd_
netlify-token           | access token  | alnum  | 30 | nfp_ nfc_ nfo_ nfu_
vercel-token            | access token  | alnum  | 20 | vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_
buildkite-token         | access token  | alnum  | 30 | bkua_ bkaa_ bkpt_ bkpat_ bkct_
circleci-token          | access token  | word   | 20 | CCIPAT_ CCIPRJ_
sourcegraph-token       | access token  | word   | 30 | ?sgp_ sgp_local_ ?slk_ ?sgd_ ?sgs_
harness-token           | access token  | dots   | 30 | ?pat. ?sat.
artifactory-key         | API key       | alnum  | 9  | ?AKC
artifactory-token       | access token  | alnum  | 60 | ?AP6 ?AP5 cmVmdGtuO
octopus-key             | API key       | upper  | 20 | ?API-
jfrog-token             | access token  | base64 | 40 | cmVmdGtuO
sonar-token             | access token  | hex    | 30 | sqp_ squ_ sqa_
snyk-token              | access token  | dots   | 20 | snyk_uat. snyk_sat.
launchdarkly-key        | API key       | dash   | 30 | ?sdk- ?api- ?mob-
tailscale-key           | API key       | dash   | 12 | tskey-
ngrok-token             | access token  | dash   | 30 | ?ak_ ?ngrok_
cloudsmith-key          | API key       | hex    | 30 | csa_
alibaba-key             | access key    | alnum  | 12 | LTAI
tencent-key             | access key    | alnum  | 30 | AKID
yandex-key              | access key    | dash   | 30 | AQVN YCAJE ?YC
yandex-token            | access token  | dots   | 30 | ?t1. ?y0_ ?y1_ ?y2_ ?y3_
volcengine-key          | access key    | base64 | 30 | AKLT
scaleway-key            | access key    | upper  | 17 | SCW
hetzner-token           | access key    | word   | 40 | hcloud_
ibm-cloud-token         | access token  | dash   | 40 | ?ApiKey-
facebook-token          | access token  | alnum  | 25 | EAACEdEose0cBA EAACE ?EAAB ?EAAG ?EAAC ?EAAD ?EAAM ?EAAJ ?IGQV
twitter-token           | access token  | wide   | 40 | AAAAAAAAAAAAAAAAAAAAA
mapbox-token            | access token  | dots   | 30 | pk.eyJ sk.eyJ tk.eyJ
segment-token           | access token  | dots   | 30 | ?sgp_
lark-token              | access token  | dash   | 20 | ?t-g1
ubidots-token           | access token  | dash   | 28 | ?BBFF- ?BBUS-
voiceflow-key           | API key       | dots   | 30 | VF.DM. VF.WS. ?VF.
stackhawk-key           | API key       | dots   | 30 | ?hawk.
adafruit-key            | API key       | alnum  | 20 | aio_
adobe-secret            | client secret | dash   | 28 | ?p8e- ?p8-
beamer-token            | access token  | dash   | 30 | ?b_
definednetworking-token | access token  | dash   | 30 | dnkey-
dependency-track-key    | API key       | alnum  | 30 | odt_
dfuse-key               | API key       | hex    | 30 | ?web_ ?server_
endorlabs-key           | API key       | alnum  | 12 | endr+
flexport-key            | API key       | alnum  | 30 | shltm_
fleetbase-key           | API key       | alnum  | 16 | flb_live_ flb_test_
frameio-token           | access token  | base64 | 40 | fio-u-
intra42-secret          | client secret | hex    | 50 | s-s4t2ud- s-s4t2af-
ionic-token             | access token  | dash   | 30 | ion_
maxmind-key             | licence key   | word   | 30 | ?mmk_
mergify-key             | API key       | dash   | 30 | mergify_application_key_
nightfall-key           | API key       | alnum  | 28 | NF-
openshift-token         | access token  | dash   | 40 | sha256~
persona-key             | API key       | word   | 20 | ?persona_sandbox_ persona_production_
pubnub-key              | API key       | dash   | 30 | pub-c- sub-c- sec-c-
ramp-secret             | client secret | alnum  | 40 | ramp_sec_ ramp_id_
retool-token            | access token  | word   | 20 | ?retool_ ?rsk_
recaptcha-key           | API key       | dash   | 34 | ?6L
settlemint-token        | access token  | alnum  | 14 | sm_pat_ sm_aat_ sm_sat_
tines-token             | access token  | alnum  | 30 | ?tines_
sanity-token            | access token  | alnum  | 50 | ?sk
key-prefixed            | API key       | dash   | 30 | ?key_
trigger-key             | API key       | word   | 16 | tr_dev_ tr_prod_ tr_stg_ tr_pat_
workos-key              | API key       | hex    | 40 | ?wk-
infracost-key           | API key       | alnum  | 30 | ico-
hubspot-token           | access token  | dash   | 30 | pat-na pat-eu pat-ap
amazon-mws-token        | access token  | dash   | 30 | amzn.mws. amzn1.oa2-cs.v1.
json-web-token          | access token  | dots   | 20 | ?eyJ ?ewog
encoded-web-token       | access token  | base64 | 40 | ZXlK
authress-token          | access token  | dots   | 40 | ?sc_ ?ext_ scauth_ authress_
encoded-private-key     | private key   | base64 | 20 | LS0tLS1CRUdJTi
age-key                 | private key   | upper  | 50 | AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1 ?AGE-PLUGIN-
salesforce-token        | access token  | wide   | 60 | ?00D
zoho-token              | access token  | dots   | 60 | ?1000.
teamwork-token          | access token  | base64 | 40 | tkn.v1_
close-key               | API key       | dots   | 30 | ?api_
confluent-key           | API key       | alnum  | 18 | ?cflt
alchemy-key             | API key       | dash   | 30 | alcht_
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixRule:
    """What follows a prefix in one kind of secret."""

    name: str
    label: str
    body: re.Pattern[str]
    least: re.Pattern[str]
    """The beginning of the body that is enough to tell."""
    strict: bool
    """What follows has to look random as well, and the prefix to be the beginning of a word."""


def _read(table: str) -> Iterable[tuple[str, PrefixRule]]:
    for line in table.strip().splitlines():
        name, label, body, least, prefixes = (cell.strip() for cell in line.split("|"))
        whole = re.compile(f"{_BODIES[body]}{{{least},{_LONGEST}}}+")
        start = re.compile(f"{_BODIES[body]}{{{least},{max(int(least), _ENOUGH)}}}+")
        for marked in prefixes.split():
            prefix = marked.removeprefix("?")
            yield prefix, PrefixRule(name=name, label=label, body=whole, least=start, strict=prefix != marked)


def _rules() -> dict[str, tuple[PrefixRule, ...]]:
    rules: dict[str, tuple[PrefixRule, ...]] = {}
    for prefix, rule in _read(_TABLE):
        rules[prefix] = (*rules.get(prefix, ()), rule)
    return rules


def _branches(prefixes: Iterable[str]) -> str:
    """A pattern for any of the prefixes that looks at each character once: alternatives share their beginnings."""
    tails: dict[str, list[str]] = {}
    ends = False
    for prefix in prefixes:
        if prefix:
            tails.setdefault(prefix[0], []).append(prefix[1:])
        else:
            ends = True
    if not tails:
        return ""
    parts = [re.escape(head) + _branches(rest) for head, rest in sorted(tails.items())]
    return f"(?:{'|'.join(parts)}){'?' if ends else ''}"


PREFIX_RULES = _rules()
"""Every prefix, with the kinds that begin with it."""
PREFIX = re.compile(_branches(PREFIX_RULES))
"""The longest known prefix."""
