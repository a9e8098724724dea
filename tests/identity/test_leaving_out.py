"""What is left out is denied, whichever verb says so; and texts of like words that stand in another order."""

import pytest
from equal_vectors import alike

from wisen.claims.agreement import contradict, in_one_frame
from wisen.claims.claim import claim_of


def denied(text: str) -> list[str]:
    """The words that are negated, in their order."""
    return [word.stem for word in claim_of(text).words if word.negated]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Omit the internal order number from labels.", ["internal", "order", "number"]),
        ("The internal order number is omitted from labels.", ["internal", "order", "number"]),
        ("Leave the number out of labels.", ["number"]),
        ("The lock file has to be kept out of commits.", ["lock", "fil"]),
        ("Leave the number off the label.", ["number"]),
        ("Stay away from discounts.", ["discount"]),
        ("Force pushes are forbidden.", ["forc", "push"]),
        ("Never skip tests.", ["skip"]),
        ("Tests must not be omitted.", ["omit"]),
        ("Skip no step.", ["skip"]),
        ("No step is skipped.", ["skip"]),
        ("Avoid not retrying timeouts.", ["avoid"]),
        ("Pay; the fee is waived, the tip is omitted, the tax is excluded.", ["tip", "tax"]),
        ("Skip orders that are not paid.", ["order", "pay"]),
        ("Orders that are not paid are skipped.", ["pay"]),
        ("Skip rows not in the manifest.", ["row", "manifest"]),
        ("Skip 3 rows and don't import them.", ["3", "row", "import"]),
        ("Avoid skipping tests.", ["skip"]),
        ("Retry payments that were declined.", []),
        ("Avoid pushing on Fridays unless the lead has agreed.", []),
        ("Leave the room; then check out.", []),
        ("Switch the pump on and shut off the valve.", []),
        ("Keep polling until the job times out.", []),
        ("Leave the `out` folder alone.", []),
        ("Keep the customer file and send out the invoice.", []),
        ("Leave the very large old red lamp of the narrow hall upstairs out.", []),
        ("Turn the lamp off.", []),
        ("Book nothing but trucks.", []),
    ],
)
def test_what_a_verb_leaves_out_is_denied(text: str, words: list[str]):
    assert denied(text) == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Keep request bodies out of the log.", "Write request bodies to the log."),
        ("Fridays are excluded from reminders of invoices.", "Send reminders of invoices on Fridays, too."),
        ("Case matters when comparing addresses.", "Compare addresses regardless of case."),
        ("Skip a step of the list.", "Skip no step of the list."),
        ("Skip rows in the manifest.", "Skip rows not in the manifest."),
        ("Avoid pushes on Fridays unless the lead agreed.", "Never push on Fridays, and don't ask the lead."),
    ],
)
def test_who_leaves_out_what_the_other_has_contradicts(one: str, other: str):
    assert contradict(claim_of(one), claim_of(other))
    assert contradict(claim_of(other), claim_of(one))
    assert alike(one, other) == alike(other, one) != "idea"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Skip the blank lines in the file.", "Blank lines in the file are skipped."),
        ("Report the skipped rows to the owner.", "Report rows that were skipped to the owner."),
        ("Prohibit direct pushes to main.", "Do not allow direct pushes to main."),
        ("Keep customer names out of the logs.", "Customer names are kept out of the logs."),
        ("Send the invoice, but omit the bank details.", "Send the invoice and make sure bank details are left out."),
    ],
)
def test_one_thing_may_be_left_out_by_other_means(one: str, other: str):
    assert not contradict(claim_of(one), claim_of(other))
    assert not contradict(claim_of(other), claim_of(one))


def test_in_a_sentence_of_another_shape_hardly_a_word_need_be_another():
    one = "Ask the player before you sell an item marked legendary to a shop."
    turned = "Items marked legendary are sold to shops only after the player was asked for clear consent."
    kept = "Ask the player before you sell an item marked legendary to a friend."

    assert not in_one_frame(claim_of(one), claim_of(turned))
    assert not in_one_frame(claim_of(turned), claim_of(one))
    assert alike(one, turned) == "idea"
    assert in_one_frame(claim_of(kept), claim_of(one))
    assert alike(one, kept) != "idea"


def test_who_does_what_to_whom_is_told_by_the_order_of_the_same_words():
    one, other = "The tenant notifies the landlord of all defects.", "The landlord notifies the tenant of all defects."

    assert in_one_frame(claim_of(one), claim_of(other))
    assert alike(one, other) != "idea"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The tenant pays the landlord a deposit before moving.",
            "Before moving the landlord pays the tenant the full deposit.",
        ),
        (
            "Use the staging key for tests of the payment gateway.",
            "Tests of the payment gateway use the production key.",
        ),
    ],
)
def test_where_both_have_hardly_a_word_of_their_own_another_order_is_another_claim(one: str, other: str):
    assert in_one_frame(claim_of(one), claim_of(other))
    assert alike(one, other) == alike(other, one) != "idea"


def test_the_order_of_three_words_tells_nothing():
    one, other = "Let the user close the ticket.", "Close each old ticket quickly for the waiting user."

    assert in_one_frame(claim_of(one), claim_of(other))
    assert alike(one, other) == alike(other, one) != "idea"


@pytest.mark.no_cover
@pytest.mark.parametrize("piece", ["leave a b out ", "be omitted ", "leave ", "word{} ", "be word{} omitted "])
def test_long_texts_take_no_long_time(piece: str):
    count = 200_000 // len(piece)
    text = "".join(piece.format(number) for number in range(count))
    turned = "".join(piece.format(number) for number in reversed(range(count)))
    assert alike(text, turned + "x") in {"same", "idea", "rivals", "other"}
