"""The words that announce a secret: names of keys and passwords, and of the services that issue them."""

import re

KEY_WORD = re.compile(
    r"a(?:uth|ccess|pi[-_ .]?key|pp[-_]?id)|bearer|c(?:red(?:ential)?s?|ookie|srf|ontrase[nñ]a|lient[-_ .]?id)|dsn|"
    r"hmac|jwt|k(?:ey(?!word|board|note|frame|stroke|press)|ennwort)|l(?:icen[cs]e|ogin)|nonce|otp(?![a-z])|"
    r"clave(?![a-z])|p(?:ass(?:w(?:or)?d|wort|phrase|code|e?(?![a-z]))(?<!compass)(?<!bypass)(?<!trespass)(?<!surpass)(?<!impasse)|wd|w(?![a-z])|"
    r"rivate|sk(?![a-z])|at(?![a-z]))|rootpw|"
    r"s(?:ecret|e(?:ssion|nha|ed(?![a-z]))|id(?![a-z])|alt(?![a-z]))|token(?!i[sz])|w(?:ebhook|achtwoord|pa[23]?(?![a-z]))|"
    r"пароль|密[码碼]|口令|パスワード|비밀번호|암호|parol[aoe]?(?![a-z])|has[łl]o(?![a-z])|salasana|l[öo]senord|"
    r"adgangskode|heslo(?![a-z])|jelsz[óo]|[şs]ifre(?![a-z])|كلمة (?:المرور|السر)|סיסמה"
)
"""A word of a key's name, in lower case; inside of other words as well."""

PASSWORD_NAME = re.compile(
    r"pass(?:w(?:or)?d|wort|phrase|code|e?(?![a-z]))|p(?:wd|w(?![a-z]))|kennwort|contrase[nñ]a|senha|wachtwoord|"
    r"clave(?![a-z])|wpa[23]?(?![a-z])|пароль|密[码碼]|口令|パスワード|비밀번호|암호|parol[aoe]?(?![a-z])|has[łl]o(?![a-z])|salasana|"
    r"l[öo]senord|adgangskode|heslo(?![a-z])|jelsz[óo]|[şs]ifre(?![a-z])|كلمة (?:المرور|السر)|סיסמה"
)
SECRET_NAME = re.compile(
    r"secret|token|api[-_ .]?key|credential|(?:access|private|auth|account|encryption|encrypt|signing|sign|master|"
    r"service|shared|storage|subscription|license|licence|db|database|session|admin|app|client|user|consumer|instrumentation)"
    r"[-_ .]?key|bearer|authorization|jwt|cookie|psk|webhook|dsn"
)
"""A name that holds a secret by itself, where "key" or "session" alone may be anything."""
CONTEXT = re.compile(
    r"(?<![a-z])(?:pat|pw|sid|otp|salt|hmac|seed|psk|dsn|cred|creds|auth)(?![a-z])|"
    r"passw|pwd|passphrase|secret|token|key(?!word|board|note|frame|stone|nes|stroke)|credential|private|access|"
    r"bearer|jwt|cookie|session|csrf|crumb|webhook|licen[sc]e|oauth|auth|login|client[-_ .]?id"
)
"""Any word, in lower case, that makes a random-looking neighbour a secret."""
OTHER_PURPOSE = re.compile(
    r"(?:sha[-_]?(?:1|2|224|256|384|512)?|hash|commit|digest|checksum|md5|rev|revision|ref|fingerprint|integrity|etag|"
    r"public|uuid|guid|blob|tree|parent|merge|version|build|image|layer|crc|tag|branch|head|git|patch|changeset|"
    r"blake[23][bs]?|cid|trace|span|request|correlation|issue|ticket|order|row|record|node|cache|primary|foreign|"
    r"partition|sort|routing|idempotency|group|object|document|resolved|nixpkgs|diff|index|\.tgz|\.git|\.zip|\.gz)"
    r"(?:[-_ .]?(?:ids?|key|sum|is|was|at|of|the|value|to|from|by|with|into|named|called))?[\s\"'`:=(#@>,.\[/-]{0,6}\Z"
)
"""What stands right before a digest or identifier that is no secret, in lower case."""
NAME_ENDS_OTHERWISE = re.compile(
    r"[-_.]?(?:name|names|file|filename|path|paths|dir|folder|url|uri|endpoint|field|fields|type|types|class|length|len|"
    r"count|limit|max|min|size|regex|pattern|policy|reset|header|headers|prefix|suffix|env|var|variable|ref|arn|prompt|"
    r"hint|label|input|format|expiry|expires|expiration|expired|ttl|age|required|enabled|disabled|valid|validator|"
    r"version|id|ids|column|index|table|mode|provider|manager|store|storage|usage|list|map|set|error|message|text|info|"
    r"method|scope|scopes|host|port|user|username|account|region|status|state|date|time|at|timeout|attempts|rules?|"
    r"strength|algorithm|alg|encoder|hasher|hash|check|checker|confirm|confirmation|visible|toggle|placeholder|title|"
    r"description|example|template|budget|counts?|izer|ize|ized|izers|ization|word|words|board|ed|ing|or|ors|ive)s?\Z"
)
"""Ends of names that speak about a secret instead of holding one."""
_WORDS = """
str string text none null nil true false bool int password passwd passphrase passcode secret secrets token tokens key
keys user username login required optional hidden invalid valid missing empty unset default value values field type
input output wrong correct incorrect expired weak strong short long blank stdin prompt yes no unknown undefined any
bytes object number integer float char varchar nullable file filename path config env variable variables name names
label email e-mail phone address admin account accounts authentication authorization encryption reset recovery manager
policy rotation protected stored encrypted hashed plaintext plain sha1 sha-1 sha256 sha-256 sha512 sha-512 md5 base64
base32 base58 utf8 utf-8 utf16 oauth oauth2 oauth2.0 openid http2 http/2 ipv4 ipv6 argon2 argon2id argon2i pbkdf2
bcrypt scrypt hs256 rs256 es256 aes128 aes256 aes-256 aes-128 rsa2048 rsa4096 ed25519 ssh-ed25519 x509 x.509 ec2 s3
k8s i18n l10n a11y p256 p-256 tls1.2 tls1.3 tlsv1.2 tlsv1.3 python2 python3 log4j gpt-4 gpt-4o gpt2 gpt-2 gpt4 utf-16
latin1 web3 auth0 md4 2fa mfa otp totp secretstr nil. optional[str] any() same different new old current again twice
here there also only not and for with the from that this these those all each every one two three now then before
after when where still always never must should will can may has have had was were been being too very much more less
than authenticated accepted rejected rotated revoked leaked exposed compromised used shared changed set reused
protected masked sent logged printed needed forgotten
"""
WORDS = frozenset(_WORDS.split())
"""What stands where a value would and is none, in lower case."""

_SERVICES = """
abbysale abuseipdb accuweather adafruit adobe adzuna aeroworkflow agora airbrake airship airtable airvisual aiven
alchemy alconost alegra aletheia algolia alibaba alienvault allsports amadeus ambee amplitude anthropic anypoint
apacta apideck apiflash apifonica apify apilayer apimatic apimetrics apitemplate apollo appcues appfollow appointedd
appoptics appsflyer appsynergy apptivo artifactory artsy asana assemblyai atera atlassian audd auth0 autodesk
autoklose autopilot avaza aviationstack axonaut aylien ayrshare azure bannerbear baremetrics beamer beebole besnappy
besttime betterstack billomat bingmaps bitbar bitcoinaverage bitfinex bitly bitmex blablabus blazemeter blitapp
blocknative blogger bombbomb boostnote borgbase braintree brandfetch browserstack browshot bscscan buddyns budibase
bugherd bugsnag buildkite bulbul bulksms buttercms caflou calendarific calendly calorieninja campayn cannyio
capsulecrm captaindata carboninterface cashboard caspio censys centralstationcrm cexio chartmogul chatbot chatfuel
checio checklyhq checkout checkvist cicero circleci clarifai clearbit clickhelp clicksend clickup cliengo clinchpad
clockify clockworksms closecrm cloudant cloudconvert cloudelements cloudflare cloudimage cloudinary cloudmersive
cloudplan cloudsight cloudsmith cloverly cloze clustdoc codacy codeclimate codecov codemagic codequiry cohere coinapi
coinbase coinlayer coinlib collect2 column commercejs commodities confluent contentful conversiontools convertapi
convertkit convier copyscape countrylayer courier coveralls craftmypdf crowdin cryptocompare currencycloud
currencyfreaks currencylayer currencyscoop currentsapi customerguru customerio d7network dailyco dandelion dareboost
databox databricks datadog datafire datagov debounce deepai deepgram deepl delighted demio deputy detectify
detectlanguage dfuse diffbot diggernaut digitalocean disqus ditto dnscheck docker dockerhub docparser documo docusign
doppler dotdigital dovico dronahq droneci dropbox duply dwolla dynadot dynalist dyspatch eagleeyenetworks easyinsight
ecostruxureit edamam edenai eightxeight elasticemail elevenlabs enablex endorlabs enigma envoy eraser etherscan
ethplorer eventbrite everhour exchangerate exportsdk extractorapi facebook faceplusplus fastforex fastly feedier
fetchrss fibery figma fileio filestack finage financialmodelingprep findl finicity finnhub firebase fixer flatio
fleetbase flexport flickr flightapi flightlabs flightstats float flowflu flutterwave fmfw formbucket formcraft formio
formsite foursquare frameio freshbooks freshdesk front fulcrum fullstory fusebill fxmarket geckoboard gemini gengo
geoapify geocode geocodify geocodio geoipifi getgeoapi getgist getresponse gitter glassnode gocanvas gocardless
godaddy goodday grafana graphcms graphhopper groovehq gtmetrix guardian gumroad gyazo happi happyscribe harvest
helloSign hellosign helpcrunch helpscout hereapi heroku hive hiveage holidayapi holistic honeybadger honeycomb host
hotjar hubspot huggingface humanity hunter hybiscus hypertrack iconfinder iexapis imagekit imagga impala impact infura
insightly instabot instamojo intercom interseller intrinio invoiceocean ip2location ipapi ipgeolocation ipify ipifi
ipinfo ipinfodb ipquality ipstack jdbc jira jotform jumpcloud jupiterone juro kairos kanban kanbantool karmacrm keenio
kickbox klaviyo klipfolio knapsackpro kontent kraken kucoin kylas languagelayer lastfm launchdarkly lemlist
lemonsqueezy lendflow lessannoyingcrm lexigram linear linenotify linkedin linkpreview liveagent livestorm loadmill lob
locationiq loginradius logzio lokalise loyverse lunchmoney luno madkudu magicbell magnetic mailboxlayer mailchimp
mailerlite mailgun mailjet mailmodo mailsac mandrill manifest mapbox mapquest marketstack mattermost mavenlink maxmind
meaningcloud mediastack meistertask mesibo messagebird metaapi metabase metrilo mindmeister miro mite mixmax mixpanel
mockaroo moderation monday monkeylearn moonclerk moonclerck moosend moralis mrticktock mux myfreshworks myintervals
nasdaq nethunt netlify neutrinoapi newrelic newsapi newscatcher nexmo nftport ngrok nicereply nightfall nimble nitro
noticeable notion nozbeteams numverify nutritionix nylas nytimes oanda ocrspace okta omnisend onbuka onedesk onelogin
onepagecrm onesignal onfleet onwater oopspam openai opencagedata openuv openweather opsgenie optidash optimizely
overloop owlbot packagecloud pagarme pagerduty pandadoc pandascore paperform paralleldots parsehub parsers parseur
particleio partnerstack pastebin paydirtapp paymoapp paymongo paypal paystack pdflayer pdfshift peopledatalabs
pepipost percy photoroom pingdom pinata pinecone pipedream pipedrive pivotal pivotaltracker pixabay plaid planetscale
planview planyo plivo podio pollsapi poloniex polygon positionstack postageapp postbacks posthog postman postmark
powrbot prefect privacy privatekey prodpad prospectcrm protocolsio proxycrawl pubnub pulumi pushbullet pusher
purestake qase qualaroo qubole quickmetrics raven rapidapi rawg razorpay reachmail readme reallysimplesystems
rebrandly recaptcha rechargepayments redis refiner rentman repairshopr replicate replyio requestfinance restpack
revampcrm rev ringcentral ritekit roaring rocketreach rockset roninapp route4me rownd rubygems runrunit runscope
salesblink salescookie salesflare salesforce satismeter saucelabs scaleway scrapeowl scraperapi scraperbox scrapersite
scrapestack scrapfly scrapingant scrapingbee screenshotapi screenshotlayer scrutinizer securitytrails segment
selectpdf semaphore sendbird sendgrid sendinblue sentiment sentry serphouse serpstack serveprofiler sheety sherpadesk
shipday shippo shodan shopify shortcut shotstack shutterstock sigopt simfin simplesat simplynoted simvoly sinchmessage
sirv siteleaf skrapp skybiometry slack smartsheets smooch snipcart snowflake snyk sonarcloud sonarqube sourcegraph
sparkpost speechtext splunk spoonacular sportradar sportsmonk spotify square squarespace squareup sslmate statuscake
statuspage statuspal stitchdata stockdata storecove stormboard stormglass storyblok storychief strava streak stripe
stripo stytch sugester sumologic supabase supernotes surge surveyanyplace surveybot surveysparrow survicate swell
swiftype tailscale tallyfy tatum taxjar teamgate teamwork technicalanalysisapi tefter telegram telnyx teletype
telesign terraform testingbot textmagic theoddsapi the-odds-api thinkific thousandeyes ticketmaster tickettailor
tiingo timecamp timekit timezoneapi tineswebhook tly tmetric todoist toggl tomorrowio tomtom tradier transferwise
travelpayouts travisci trello tru twelvedata twilio twist twitch twitter tyntec typeform typetalk ubidots uclassify
unifyid unplugg unsplash upcdatabase uplead uploadcare uptimerobot upwave urlscan userflow userstack vatlayer vbout
vercel verifier verimail veriphone versioneye viewneo virustotal visualcrossing voiceflow voicegain voodoosms vouchery
vpnapi vultr vyte walkscore wandb weatherbit weatherstack web3storage webex webflow webscraper webscraping wepay whoxy
wistia wit worksnaps workstack worldcoinindex worldweather wrike xero xai yandex yelp youneedabudget youtube yousign
zapier zendesk zenkit zenrows zenscrape zenserp zeplin zerobounce zerotier zipapi zipbooks zipcodeapi zipcodebase zoho
zohocrm zonka zulip
"""
_AMBIGUOUS = """
host front float column surge hunter tru rev wit hive impact nitro manifest privacy streak envoy swell magnetic enigma
raven square segment miro redis docker readme guardian juro linear courier column ditto eraser moderation chatbot
sentiment verifier pivotal gemini polygon harvest twist parsers shortcut semaphore commodities jdbc checkout actions
youtube privatekey graphcms holistic karma
"""
SERVICES = frozenset(_SERVICES.lower().split()) - frozenset(_AMBIGUOUS.split())
"""Services whose name before a random token says that the token is theirs."""
SERVICE = re.compile(r"[a-z][a-z0-9]{2,24}+")
"""A word that may be the name of a service, in lower case."""
