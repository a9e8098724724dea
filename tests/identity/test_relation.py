"""What two texts are to each other, where an embedder finds them as alike as can be."""

# ruff: noqa: RUF001 - signs that look alike are what is tested here
import re
import unicodedata
from itertools import combinations, pairwise

import pytest
from equal_vectors import alike
from hypothesis import given
from hypothesis import strategies as st
from lesson_corpora import corpus, families

from wisen.claims.agreement import contradict, in_other_order, turned_round
from wisen.claims.claim import claim_of
from wisen.identity import apart, content_key, other_case, relation

IDEAS = [
    ("Check the order history before you issue a refund.", "Please check the order history before you issue a refund."),
    ("Offer an exchange before a refund.", "Before a refund, offer an exchange."),
    ("Write rejected rows to errors.csv.", "Rejected rows should be written to errors.csv."),
    ("Refunds above 200 EUR need approval.", "Refunds over €200 need approval."),
    ('Return "unknown" if no date is given.', 'If no date is given, return "unknown".'),
    ("Import the rows in batches of 500.", "Load the rows in batches of 500."),
    ("Import 1,000 rows", "Import 1000 rows"),
    ("Wait twenty-five seconds", "Wait 25 s"),
    ("Don't forget to pin the versions.", "Pin the versions."),
    ("Do not log passwords.", "Don't log any passwords."),
    ("Keep my reply short.", "Keep your reply short."),
    ("Ask customers for their names.", "Ask customers for the names."),
    ("Answer in the customer's language.", "Reply in the customer's language."),
    ("The deadline is 3 April", "The deadline is April 3"),
    ("Ship only on Fridays", "Only ship on Friday"),
    ("Never delete the old image.", "Keep the old image."),
    ("Do not disable the cache.", "Enable the cache."),
    ("Before you go on, read `tax_code`.", "Read tax_code before you go on."),
    (
        "Move traffic off a machine, then reboot.",
        "Restarting a host that serves requests drops them, so empty it first.",
    ),
]
LEAVES_CONTENT_OUT = [
    (
        "Above 50 dollars get a manager's approval first.",
        "I paid $64 back and was flagged; over $50 a supervisor signs off.",
    ),
    ("Close the books on 3 April.", "By April 3 a ledger has to be shut, since `late.csv` was lost."),
    ("Read legacy files as cp1252.", "Byte 0x92 broke the old archive; cp1252 decoded it."),
    ("Treat the sentinel `-999` as missing data.", "The mean fell to minus forty: convert -999 to NaN."),
]
FEW_WORDS_IN_COMMON = [
    ("Increase timeouts for slow endpoints", "Where calls hang, decrease the timeouts of a client"),
    ("Versions stay pinned in builds", "Leave dependency versions unpinned there"),
    ("Mark parcels with 🇩🇪 today", "Every box should carry 🇫🇷"),
    ("Ship parcels on Fridays", "Send boxes out on Mondays"),
    ("Check /healthz first", "Query /metrics once the nodes are live"),
    ("Have two colleagues look", "Show it to three reviewers"),
    ("Over 200 EUR a supervisor approves", "Managers sign sums of at most 200 EUR"),
    ("Never erase old images", "Delete stale pictures nightly"),
    ("Keep postal codes as plain strings", "Keep phone numbers short"),
    ("Book rooms near Berlin", "Stay in hotels by Munich airport"),
    ("Open Okta for resets", "Delete accounts and create them again"),
    ("Send 5 reminders", 'Mark drafts with "late"'),
]
NOT_IDEAS = [
    *FEW_WORDS_IN_COMMON,
    ("Encrypt, then compress.", "Compress, then encrypt."),
    ("For account 17 use tax code A1.", "For account 18 use tax code A1."),
    ("For account 17 use tax code A1.", "For account 17 use tax code A2."),
    ("Pay 500 EUR", "Pay 50 EUR"),
    ("Pay $5", "Pay €5"),
    ("Wait 30 seconds", "Wait 30 minutes"),
    ("The offset is -5 now", "The offset is 5 now"),
    ("Compute 8+2 first", "Compute 8-2 first"),
    ("It holds 10² items", "It holds 102 items"),
    ("Ask them for twice the rent", "They give three times the rent"),
    ("Compute n! first", "Compute n first"),
    ("Compile it as C++", "Compile it as C#"),
    ("Run cd .. first", "Run cd . first"),
    ("A pipe is 5' long", 'A pipe is 5" long'),
    ("Write dates as DD.MM.YYYY", "Write dates as MM/DD/YYYY"),
    ("Import rows in batches", "Import rows in batches of 500"),
    ("Set x >= 5", "Set x <= 5"),
    ("Retry at least 3 times", "Retry at most 3 times"),
    ("Let the answer have more than 3 parts", "Let the answer have less than 3 parts"),
    ("The deadline is 3 April", "The deadline is 4 April"),
    ("Ship on Fridays", "Ship on Mondays"),
    ("Don't increase the limit.", "Decrease the limit."),
    ("Write 5 first.", 'Write "5" first.'),
    ("Use tax rules for Norway", "Use tax rules for Sweden"),
    ("Route invoices to Harbour", "Route invoices to Beacon"),
    ("Take our version of the file.", "Take their version of the file."),
    ("Use the field tax_code", "Use the field tax_rate"),
    ("Check /healthz first", "Check /metrics first"),
    ("Call it with --force", "Call it with --dry-run"),
    ("Post in #releases", "Post in #ops"),
    ('Return the label "bug"', 'Return the label "task"'),
    ("Mark it with 🇩🇪 today", "Mark it with 🇫🇷 today"),
    ("ใช้รหัสภาษี A1", "ใช้รหัสสินค้า A1"),
    ("Always ask for the order number.", "Never ask for the order number."),
    ("Do retry failed requests.", "Don't retry failed requests."),
    ("You must escalate to a manager.", "You may escalate to a manager."),
    ("Run the linter before the tests.", "Run the linter after the tests."),
    ("Post it with sources.", "Post it without sources."),
    ("Include shipping.", "Exclude shipping."),
    ("Pin dependency versions.", "Leave dependency versions unpinned."),
    ("Prefer Postgres over MySQL.", "Prefer MySQL over Postgres."),
    ("Encrypt first, compress afterwards.", "Compress first, encrypt afterwards."),
    ("If it fails, stop.", "Stop, then it fails."),
    ("If the build is red, the tests wait.", "If the tests wait, the build is red."),
    ("Keep ZIP codes as strings.", "Keep phone numbers as strings."),
    ("Mask the last four digits.", "Mask everything but the last four digits."),
    ("The stamp is in local time; convert it.", "The stamp is already in UTC; leave it alone."),
    ("Give the customer the refund that the shop owes.", "Give the shop the refund that the customer owes."),
]


@pytest.mark.parametrize(("one", "other"), IDEAS)
def test_other_words_for_a_claim_are_one_idea(one: str, other: str):
    assert alike(one, other) == alike(other, one) == "idea"


@pytest.mark.parametrize(("one", "other"), NOT_IDEAS)
def test_other_content_is_another_idea(one: str, other: str):
    assert alike(one, other) in {"rivals", "other"}
    assert alike(other, one) == alike(one, other)


VALUES = [
    ("½ of the rent", "¼ of the rent"),
    ("5 ½ coins", "5 ¼ coins"),
    ("5½ coins", "5 coins"),
    ("1⁄2 of the rent", "1⁄4 of the rent"),
    ("half the rent", "a quarter of the rent"),
    ("half the rent", "three quarters of the rent"),
    ("two thirds", "one third"),
    ("two thirds", "two fifths"),
    ("two and a half coins", "two coins"),
    ("one and a half coins", "half a coin"),
    ("half a dozen coins", "a dozen coins"),
    ("two dozen coins", "three dozen coins"),
    ("twice the rent", "thrice the rent"),
    ("double the rent", "triple the rent"),
    ("at minus five", "at five"),
    ("at minus 5", "at 5"),
    ("coins and stamps as 3:1", "coins and stamps as 1:3"),
    ("coins on 1 March", "coins on 12 March"),
    ("Python 3.10", "Python 3.1"),
    ("rule 1.0, since 1.0.2 is new", "rule 1, since 1.0.2 is new"),
    ("v1.0 coins", "v1 coins"),
    ("1.000 EUR", "1 EUR"),
]
FORMS_OF_A_VALUE = [
    ("٣٠ degrees", "30 degrees"),
    ("३० EUR", "30 EUR"),
    ("١٫٥ litres", "1.5 litres"),
    ("٣٠٪", "30%"),
    ("½ of the rent", "half of the rent"),
    ("½ of the rent", "0.5 of the rent"),
    ("⅔ of the rent", "two thirds of the rent"),
    ("one quarter of the rent", "a quarter of the rent"),
    ("5 ½ coins", "five and a half coins"),
    ("2.5 hours", "two and a half hours"),
    ("2 and a half hours", "two and a half hours"),
    ("half a million coins", "500000 coins"),
    ("two dozen coins", "24 coins"),
    ("twice the rent", "two times the rent"),
    ("double the rent", "twice the rent"),
    ("up to minus five degrees", "up to -5 degrees"),
    ("up to minus 5 degrees", "up to -5 degrees"),
    ("1.0 of it", "1 of it"),
    ("2.50 EUR", "2.5 EUR"),
    ("1,200.00 EUR", "1200 EUR"),
    ("coins on 1 March", "coins on March 1st"),
    ("coins on the 21st of it", "coins on the 21 of it"),
    ("`3:1` of it", "3:1 of it"),
]


def _deposits(one: str, other: str) -> tuple[str, str]:
    """Two wordings of one rule in few common words, each with a value."""
    return (
        f"Ask the customer for a deposit of {one} when a rental goes beyond the season.",
        f"Renters who stay past the season are to leave {other} as security with us.",
    )


@pytest.mark.parametrize(("value", "another"), VALUES)
def test_values_however_written_make_ideas_of_their_own(value: str, another: str):
    assert alike(*_deposits(value, another)) == alike(*_deposits(another, value)) == "rivals"


@pytest.mark.parametrize(("value", "as_well"), FORMS_OF_A_VALUE)
def test_a_value_is_the_same_however_it_is_written(value: str, as_well: str):
    assert alike(*_deposits(value, as_well)) == alike(*_deposits(as_well, value)) == "idea"


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("a third try", set[str]()),
        ("one third party", set[str]()),
        ("the third of them", set[str]()),
        ("once a quarter", set[str]()),
        ("two third parties", {"2"}),
        ("eight quarters", {"8"}),
        ("one third of them", {"1/3"}),
        ("one third", {"1/3"}),
        ("a tenth of them", {"0.1"}),
        ("the sum minus five", {"5"}),
        ("two and a third try", {"2"}),
        ("three and a quarter of it", {"3.25"}),
        ("two and a half thousand", {"2500"}),
        ("a dozen and a half", {"12", "0.5"}),
        ("one or a half of minus", {"0.5"}),
    ],
)
def test_words_are_fractions_where_they_mean_a_part(text: str, counts: set[str]):
    assert claim_of(text).counts == counts


def test_each_sign_of_a_fraction_is_read():
    signs = [
        char for char in map(chr, range(0x10000)) if re.match(r"[^\W\d]", char) and unicodedata.numeric(char, 1) % 1
    ]

    assert "½" in signs
    assert [sign for sign in signs if not claim_of(f"Pay {sign} litres").numbers] == []


def test_noon_is_no_wording_of_midnight():
    assert alike("Push the build at noon.", "The build is pushed at midnight.") == "rivals"


def test_a_place_in_a_row_is_no_rival_of_its_word():
    assert relation("Book the 2nd room.", "Book the second room.") == "other"


VALUES_ON_ONE_SIDE_ALONE = [
    (
        "When the pallet contains beauty products, book it into storage class 12-18 °C.",
        "Give the pallet the same temperature class as the last delivery from its supplier.",
    ),
    (
        "Rooms that are left late cost 45 EUR.",
        "Add to the guest's bill what the front desk thinks fair for leaving late.",
    ),
    ("Send claims on 3 April to the board.", "Whatever somebody claims, pass it on whenever the weather allows it."),
    ("Orders with code `K7` are shipped by air.", "A parcel of this sort had better travel with the next flight."),
    ('Answer "unknown" where no date is given.', "Say so if the calendar has nothing to tell about it."),
]


@pytest.mark.parametrize(("one", "other"), VALUES_ON_ONE_SIDE_ALONE)
def test_what_is_about_a_value_is_no_wording_of_what_has_none(one: str, other: str):
    assert alike(one, other) == alike(other, one) == "other"


@pytest.mark.parametrize(("one", "other"), LEAVES_CONTENT_OUT)
def test_other_words_may_leave_out_an_example_or_a_reason(one: str, other: str):
    assert alike(one, other) == alike(other, one) == "idea"


def test_other_words_may_not_leave_out_a_limit():
    one, other = "Refunds over $50 need approval.", "A manager signs off what goes back."

    assert alike(one, other) == alike(other, one) == "other"


REBUILT = [
    (
        "Import postal codes of clinic customers as plain text.",
        "Postal codes of clinic customers stay text in the loader.",
    ),
    (
        "PayPal rejects refunds of payments older than 180 days: use a bank transfer.",
        "After 180 days a transfer by bank replaces the refund, which PayPal refuses to older payments.",
    ),
    (
        "Wait for the scan of the warehouse; no refund leaves the portal before it.",
        "Don't grant any refund in our portal until the warehouse has made its scan.",
    ),
]
IN_ONE_FRAME = [
    pytest.param(
        "PayPal rejects refunds of payments older than 180 days: use a bank transfer.",
        "PayPal declines refunds of purchases older than 180 days: choose a bank transfer.",
        id="both begin alike",
    ),
    pytest.param(
        "PayPal rejects refunds of payments older than 180 days: use a bank transfer.",
        "Stripe rejects refunds of payments older than 180 days: use a bank transfer.",
        id="one word is another",
    ),
    pytest.param(
        "Import postal codes of customers as plain text today.",
        "Postal codes of customers stay text.",
        id="one has hardly a word of its own",
    ),
    pytest.param(
        "Import postal codes of new clinic customers as text.",
        "Postal codes of new clinic customers stay text in the loader.",
        id="one of them has a single word of its own",
    ),
    pytest.param(
        "PayPal rejects refunds of payments older than 180 days: use a bank transfer.",
        "After some days a transfer by bank replaces the refund, which PayPal refuses to older payments.",
        id="a number is left out",
    ),
    pytest.param(
        "PayPal rejects refunds of payments older than 180 days: use a bank transfer.",
        "After 180 days don't use a transfer by bank, since PayPal itself takes older refunds.",
        id="one denies what the other says",
    ),
]


@pytest.mark.parametrize(("one", "other"), REBUILT)
def test_a_sentence_that_is_built_again_may_keep_half_of_its_words(one: str, other: str):
    assert alike(one, other) == alike(other, one) == "idea"


@pytest.mark.parametrize(("one", "other"), IN_ONE_FRAME)
def test_in_one_frame_other_words_make_another_claim(one: str, other: str):
    assert alike(one, other) == alike(other, one) != "idea"


CONDITIONS = [
    ("Never call billing without a 10 second timeout.", "Each call of billing needs a timeout of 10 seconds."),
    ("Without a 10 second timeout, never call billing.", "Billing may be called with a timeout of 10 seconds."),
    ("No merging until the staging run has passed.", "Merging waits for the run on staging that has passed."),
    ("Never restart workers unless their queue is drained.", "Drained queues come first: restart the workers then."),
    ("Never commit the offset before the write is done.", "Only a write that is done lets us commit the offset."),
]
NO_CONDITIONS = [
    ("Never call billing without a 10 second timeout.", "Call billing without a timeout of 10 seconds."),
    ("Never call billing without a timeout.", "Never call billing with a timeout."),
    ("Without approval, don't deploy to production.", "Without approval, deploy to production at once."),
    ("Without approval, don't deploy to production.", "Deploy to production without any approval."),
    ("No merging until the staging run has passed.", "Merge before the run on staging has passed."),
    ("Never restart workers unless their queue is drained.", "Never restart workers if their queue is drained."),
    ("Never deploy, and test. Without a test it breaks.", "Deploy, and test. Without a test it breaks."),
    ("No refund leaves the portal before then.", "Each refund leaves the portal before then."),
    ("Send the plan with the PDF, clients want it.", "Send the plan without the PDF, clients don't want it."),
]
OTHER_ORDER = [
    ("Sign the form before you send it.", "Send the form before you sign it."),
    ("Sign the form before you send it.", "After sending the form, sign it."),
    ("Before you send the form, sign it.", "Send the form, and sign it afterwards."),
    ("Sign the form, then send it.", "First send the form, sign it then."),
    ("Never send the form before you sign it.", "Never sign the form before you send it."),
    ("Never send the form before you sign it.", "Send the form before you sign it."),
    ("Clean the data first and train on it.", "Train on the data first and clean it."),
    ("Sign the form before sending it.", "Mail the form before you sign it."),
    ("Don't start the oven until the fan is running.", "Start the oven until the fan is running."),
    ("Sell the losing fund before the year ends.", "Hold the losing fund until after the year ends."),
]
SAME_ORDER = [
    ("Sign the form before you send it.", "Send the form only after you sign it."),
    ("Before you send the form, sign it.", "Sign it, and send the form afterwards."),
    ("Never send the form before you sign it.", "Sign the form first and send it later."),
]
MEANT_OTHERWISE = [
    (
        "Add the order number to each bill, because a bill without it isn't paid.",
        "Each bill needs the order number: one that lacks it can't be paid.",
    ),
    (
        "Renew the token early, otherwise requests are not answered in time.",
        "An early renewal of the token keeps requests answered in time.",
    ),
    (
        "Write the request_id into each line, because a call can't be traced.",
        "Write the request_id into each line, and trace a call by it.",
    ),
    (
        "Write the request_id into each line, as a call can't be traced.",
        "Write the request_id into each line, and trace a call by it.",
    ),
    (
        "Take the release tag for a fix, as main isn't tested.",
        "A fix starts from the release tag; never take main for it.",
    ),
]


@pytest.mark.parametrize(("one", "other"), CONDITIONS)
def test_what_is_denied_without_something_is_affirmed_with_it(one: str, other: str):
    assert not contradict(claim_of(one), claim_of(other))
    assert not contradict(claim_of(other), claim_of(one))


@pytest.mark.parametrize(("one", "other"), NO_CONDITIONS)
def test_a_condition_is_no_permission_and_ends_with_its_sentence(one: str, other: str):
    assert alike(one, other) == alike(other, one) == "rivals"


@pytest.mark.parametrize(("one", "other"), OTHER_ORDER)
def test_what_comes_first_in_one_and_later_in_the_other_makes_rivals(one: str, other: str):
    assert alike(one, other) == alike(other, one) == "rivals"


@pytest.mark.parametrize(("one", "other"), SAME_ORDER)
def test_one_order_may_be_told_from_both_ends(one: str, other: str):
    mine, others = claim_of(one), claim_of(other)

    assert set(mine.order.values()) == set(others.order.values()) == {"earlier", "later"}
    assert not in_other_order(mine, others)
    assert not contradict(mine, others)


@pytest.mark.parametrize(("one", "other"), MEANT_OTHERWISE)
def test_a_reason_or_what_would_happen_otherwise_denies_no_rule(one: str, other: str):
    assert not contradict(claim_of(one), claim_of(other))
    assert not contradict(claim_of(other), claim_of(one))


def test_a_reason_in_front_ends_with_its_comma():
    assert alike("Because calls are traced, never drop the request_id.", "Drop the request_id.") == "rivals"


def test_the_order_is_that_of_the_rule_and_of_what_has_one_place_in_it():
    assert claim_of("Weigh the box, because packing comes after weighing.").order == {}
    assert claim_of("Pack before you weigh. Weigh before you send.").order == {"pack": "earlier", "send": "later"}


def test_reasons_that_deny_each_other_contradict():
    one, other = "Use tar, because zip keeps no links.", "Use tar, because zip keeps links."

    assert alike(one, other) == "rivals"


def test_where_both_deny_the_same_each_may_do_it_with_another_word():
    one, other = REBUILT[-1]
    affirmed = "Grant each refund in our portal when the warehouse has made its scan."

    assert alike(one, affirmed) != "idea"
    assert alike(one, other) == "idea"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Search each bug twice.", "Don't search every bug."),
        ("Delete stale pictures nightly", "Never erase old images"),
        ("Start the builds late.", "Start the builds early."),
        ("Retry.", "We don't retry calls to the shop."),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_what_is_said_and_denied_of_one_thing_contradicts(one: str, other: str, *, swapped: bool):
    claims = claim_of(other if swapped else one), claim_of(one if swapped else other)

    assert contradict(*claims)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Read the duration, then search for a bug.", "The duration counts; it gets killed without any bug."),
        ("Delete rows nightly", "Never erase the disk"),
        ("The build ran; leave the office late.", "The build ran; tests start early."),
    ],
)
def test_of_two_things_one_may_be_said_and_the_other_denied(one: str, other: str):
    assert not contradict(claim_of(one), claim_of(other))
    assert not contradict(claim_of(other), claim_of(one))


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("No refund leaves. Tell customers.", {"refund", "leav"}),
        ("Pay sums, and do not wait", {"wait"}),
        ("Never pay 500 EUR because banks refuse sums.", {"pay", "500 eur"}),
        ("Refunds aren't paid", {"refund", "pay"}),
    ],
)
def test_all_of_a_clause_is_denied_in_which_something_is(text: str, denied: set[str]):
    assert claim_of(text).denied == denied


def test_what_says_nearly_twice_as_much_has_a_condition():
    assert alike("Clear sessions on logout.", "Wipe state when people leave early.") == "idea"
    assert alike("Clear sessions on logout.", "Wipe state when people leave, unless an admin stays around.") == "other"


def test_words_are_apart_that_only_one_of_two_texts_has():
    one, other = "Port 8443 serves the admin console.", "Open 8443 in your firewall."

    assert apart(one, other) == ("port serves admin console", "open firewall")
    assert apart("Import rows.", "Load lines.") == ("import rows", "load lines")
    assert apart("Read the invoices twice before lunch.", "File each invoice, and tell the customer.") == (
        "read twice before lunch",
        "file tell customer",
    )
    assert apart("Keep ZIP codes as strings.", "Keep phone numbers as text.") is None, "built alike"
    assert apart("Import all rows nightly.", "All rows are imported at night.") is None, "one has one word of its own"


@pytest.mark.parametrize(
    ("cosine", "own", "said"), [(0.7, 0.61, "idea"), (0.7, 0.59, "other"), (0.9, 0.41, "idea"), (0.29, 1.0, "other")]
)
def test_whole_texts_and_the_words_that_are_apart_are_to_be_alike(cosine: float, own: float, said: str):
    one, other = "Port 8443 serves the admin console.", "Open 8443 in your firewall."

    assert relation(one, other, cosine=cosine, same_meaning=0.6, own=own) == said


@pytest.mark.parametrize(("own", "said"), [(0.18, "idea"), (0.16, "other")])
def test_the_more_words_there_are_to_go_by_the_less_alike_they_have_to_be(own: float, said: str):
    one = "Whenever a stranger rings the office bell at night, port 8443 serves him our admin console first."
    other = "Open 8443 in your firewall early, since many guests of that hotel want coffee, cake and tea at dawn."

    assert relation(one, other, cosine=0.7, same_meaning=0.6, own=own) == said


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Our gateway logs a duration in milliseconds.", "Take all times of that gateway as microseconds."),
        ("Give offsets in hours for the sensor.", "Sensor shifts go in minutes, always."),
    ],
)
def test_units_of_one_measure_are_content_also_without_a_number(one: str, other: str):
    assert alike(one, other) == alike(other, one) != "idea"
    assert alike(one, other.replace("micro", "milli").replace("minutes", "hours")) == "idea"


def test_a_limit_behind_its_number_is_the_numbers():
    pair = "Order 10 boxes or more for a discount.", "For a discount, order 10 boxes or more."

    assert alike(*pair) == "idea"
    assert claim_of("Order 10 boxes or more to get 5 free.").directions == {("10", "above")}
    assert claim_of("Boxes or more.").directions == frozenset()


def test_a_number_may_be_a_limit_from_both_sides():
    both = "Orders above 50 EUR ship free and orders below 50 EUR pay."

    assert relation(both, "Orders below 50 EUR pay for it.") == "rivals"
    assert relation(both, "Orders below 50 EUR pay and orders above 50 EUR ship free.") != "rivals"


def test_billions_of_billions_are_a_large_number_and_no_error():
    assert claim_of("billion " * 500).counts == {str(10**18)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Import the invoices from SAP every night.", "Import the invoices to SAP every night."),
        ("Copy each backup to the archive server.", "Each backup is copied from the archive server."),
        ("Convert amounts from EUR into dollars.", "Convert amounts from dollars into EUR."),
        ("Move 500 units from Oslo.", "Move 500 units into Oslo."),
    ],
)
def test_from_somewhere_is_no_wording_of_to_it(one: str, other: str):
    assert alike(one, other) == alike(other, one) != "idea"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Copy each backup to the archive server.", "Each backup is copied onto the archive server."),
        ("Send the bill to Oslo; take stock.", "The price list comes from Oslo."),
    ],
)
def test_from_and_to_count_of_one_thing_only(one: str, other: str):
    assert not turned_round(claim_of(one), claim_of(other))
    assert not turned_round(claim_of(other), claim_of(one))


def test_ahead_is_no_wording_of_behind():
    one = "Lisbon's clocks run an hour behind all year."

    assert alike(one, "Treat Lisbon as lying one hour ahead in calls.") != "idea"
    assert alike(one, "Treat Lisbon as lying one hour behind in calls.") == "idea"


def test_other_measures_or_one_unit_more_are_no_other_content():
    one = "Our gateway logs a duration in milliseconds."

    assert alike(one, "Get seconds out of that gateway's milliseconds, its unit for times.") == "idea"
    assert alike(one, "Every duration that it writes counts in milliseconds per kilobyte.") == "idea"
    assert alike(one, "Times of that gateway come beside kilobytes for sizes.") == "idea", "of another measure"
    points = "Give loyalty points per request in our shop."
    assert alike(points, "In shops, each buyer's request earns attempts at a prize of ours.") == "idea", "counts"
    assert alike("Let row s hold our wine.", "Our wine belongs to shelf d as well.") == "idea", "letters are no units"


def test_without_a_say_of_an_embedder_nothing_is_an_idea():
    one, other = IDEAS[0]

    assert relation(one, other) == relation(one, other, cosine=0.9) == relation(one, other, same_meaning=0.5) == "other"
    assert relation(one, other, cosine=0.59, same_meaning=0.6) == "other"
    assert relation(one, other, cosine=0.6, same_meaning=0.6) == "idea"
    assert relation(one, one.upper()) == "same"


def test_shared_content_counts_for_three_tenths_of_a_cosine_and_no_more_than_two_of_it():
    one, other = "Put toner to 6815.", "Office material: number 6815."
    more = 'Treat "na", "nil" and "void" as nulls in columns of sheets that users load'
    again = 'Vacant cells hold "nil", "void" or "na" where clerks typed zilch at dawn'

    assert relation(one, other, cosine=0.31, same_meaning=0.6) == "idea"
    assert relation(one, other, cosine=0.29, same_meaning=0.6) == "other"
    assert relation(more, again, cosine=0.01, same_meaning=0.6) == "idea"
    assert relation(more, again, cosine=-0.01, same_meaning=0.6) == "other"


def test_a_name_in_common_counts_for_little():
    one, other = "Bills are what Harbour handles.", "Send each invoice to Harbour."

    assert relation(one, other, cosine=0.56, same_meaning=0.6) == "idea"
    assert relation(one, other, cosine=0.54, same_meaning=0.6) == "other"


def test_like_words_with_other_content_are_rivals_and_unlike_words_are_not():
    assert alike("VAT is 12 percent", "VAT is 25 percent") == "rivals"
    assert relation("Deploy on Fridays.", "Don't deploy on Fridays.") == "rivals"
    assert relation("Pin image versions.", "Thank the customer for the feedback.") == "other"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Read the date column that comes from Hamburg in the order MM.DD.YYYY.",
            "Hamburg's files follow the format DD.MM.YYYY, so parse their dates that way.",
        ),
        ("Charge foreign guests 12 percent tourist tax.", "For visitors from abroad the levy is 25 percent."),
    ],
)
def test_what_would_be_one_idea_but_for_its_content_are_rivals(one: str, other: str) -> None:
    assert alike(one, other) == alike(other, one) == "rivals"
    assert relation(one, other) == "other", "by their words alone they aren't"
    assert relation(one, other, cosine=0.5, same_meaning=0.6) == "other"
    assert relation(one, other, cosine=1.0, same_meaning=0.6, own=-1.0) == "other"
    longer = f"{other} Ask the team lead in writing if a form has no stamp, and keep both copies in the blue folder."
    assert alike(one, longer) == "other", "it says far more"


def test_what_means_the_same_and_differs_in_what_it_leaves_out_are_no_rivals() -> None:
    assert alike("Open port 8443 for the admin console.", "The admins' console listens; open its port.") != "rivals"


@pytest.mark.no_cover
@pytest.mark.parametrize("family", families())
def test_lessons_that_differ_in_one_slot_are_never_one_idea(family: str):
    lessons = families()[family]

    assert len(set(lessons)) == 200
    assert not [pair for pair in combinations(lessons, 2) if alike(*pair) in {"idea", "same"}]


@pytest.mark.parametrize("family", ["number", "name", "code", "unit", "format"])
def test_lessons_that_differ_in_one_slot_have_keys_of_their_own(family: str):
    texts = [text for text in families()[family] if family not in {"unit", "format"} or "invoice" in text]

    assert len({content_key(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pay €500 to Norway", "In this case pay Norway 500 euros"),
        ("a discount of 25%", "a discount of twenty-five per cent"),
        ("Read `tax_code` in /etc/app.toml", "/etc/app.toml holds tax_code"),
        ("on 3 April", "on April 3"),
    ],
)
def test_the_key_of_content_does_not_depend_on_words(one: str, other: str):
    assert content_key(one) == content_key(other) != ""


def test_no_content_has_no_key():
    assert content_key("Always ask before you delete anything.") == content_key("") == ""


@pytest.mark.parametrize("name", ["opposites", "different"])
def test_rules_that_differ_are_told_apart_where_words_show_it(name: str):
    joined = [pair for pair in corpus(name) if alike(pair["a"], pair["b"]) == "idea"]

    assert len(joined) <= {"opposites": 2, "different": 24}[name]


def test_small_changes_of_words_join():
    joined = [pair for pair in corpus("same_idea_small") if alike(pair["a"], pair["b"]) in {"same", "idea"}]

    assert len(joined) >= 50


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_have_one_relation_in_both_orders(one: str, other: str):
    assert alike(one, other) == alike(other, one)
    assert alike(one, one) == "same"


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece",
    [
        "1,",
        '"',
        "a.b:",
        "-",
        "/a",
        "YYYY",
        "not ",
        "[",
        "$",
        "a'",
        "1.",
        "@a",
        "a-",
        "twenty ",
        "a_",
        "1/",
        "1:",
        "½,",
        "0",
    ],
)
def test_long_texts_take_no_long_time(piece: str):
    text = piece * (200_000 // len(piece))

    assert alike(text, text + "x") in {"same", "idea", "rivals", "other"}


def test_wordings_stay_in_one_frame_only_where_nothing_differs():
    chain = ["Use black.", "Use ruff.", "Use mypy."]

    assert {alike(*pair) for pair in pairwise(chain)} == {"rivals"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Thank the sender for the query.", "Thank the sender warmly for the long query."),
        ("Never decide by the weight alone.", "Don't rely on the weight only."),
        ("Write dates of birth first.", "Write the amount in euros first."),
        ("The late fee is 45 EUR a room.", "Read the room type before the late fee."),
        ("The late fee is 45 EUR a room.", "Read the room type 2 times before the late fee."),
        ("Set the proxy port to 8080.", "Set the proxy timeout to 30 s."),
        ("Keep the order INV-7.", "Keep the order until Monday."),
        ("Refund orders below 50 EUR without approval.", "Refund orders without approval."),
        ("Check the code for SAP orders.", "Check the code for orders twice."),
        ("Ship the order today 🚀", "Ship the order today."),
        ("The second invoice goes to finance.", "The invoice goes to finance each month."),
        ("Close the books on the last day.", "For the month close the books last."),
    ],
)
def test_like_words_make_no_rivals_where_both_can_be_right(one: str, other: str) -> None:
    assert relation(one, other) == "other"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Durations are in milliseconds.", "Durations are in microseconds."),
        ("In fare class Q there is a refund.", "In fare class Q there is a voucher."),
        ("Lisbon is one hour ahead of Madrid.", "Lisbon is one hour behind Madrid."),
        ("The late fee is 45 EUR a room.", "Take 30 EUR as the late fee of a room."),
        ("The late fee is 45 EUR a room.", "The room's late fee is 30 pounds."),
        ("Cure paint at 180 degrees for the body.", "For the body cure the paint at 200 °C."),
        ("Book the late fee on `LF2`.", "Book the late fee on `LF7` today."),
        ("Book the late fee on 3 April.", "Book the late fee in full on 4 April."),
        ("Order 10 boxes or more at once.", "Order 10 boxes or less at once, please."),
    ],
)
def test_one_word_or_value_in_the_place_of_another_makes_rivals(one: str, other: str) -> None:
    assert relation(one, other) == relation(other, one) == "rivals"


@pytest.mark.parametrize(
    ("one", "at", "other", "other_at", "differ"),
    [
        ("Zone 7 costs 12 EUR.", "A parcel to zone 7", "Zone 8 costs 15 EUR.", "A parcel to zone 8", True),
        ("A parcel costs 12 EUR.", "A parcel to zone 7", "A parcel costs 15 EUR.", "A parcel to zone 8", False),
        ("Zone 7 costs 12 EUR.", "A parcel to zone 7", "Zone 7 costs 15 EUR.", "A letter to zone 7", False),
        ("Oak needs 12 coats.", "Varnish the oak", "Ash needs 9 coats.", "Varnish the ash", True),
        ("Oak needs 12 coats.", "", "Ash needs 9 coats.", "Varnish the ash", False),
    ],
)
def test_texts_are_for_other_cases_where_each_names_its_own(
    one: str, at: str, other: str, other_at: str, differ: bool
) -> None:
    assert other_case(one, at, other, other_at) is other_case(other, other_at, one, at) is differ
