"""The socket on which pages are served."""

import socket

from wisen.operations.serving import Address, _listening


def test_an_answer_is_sent_at_once_and_not_held_back_for_more() -> None:
    with (
        _listening(Address(host="127.0.0.1", port=0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert client.getpeername() == listener.getsockname()
