"""Which procedures the network of a view has."""

from __future__ import annotations

from app.look.base import Subject
from engine.procedures.declare import Offer
from engine.procedures.registry import offers


def known_offers(subject: Subject) -> tuple[Offer, ...]:
    """The procedures of the network, none while its shapes are not known."""
    project, book = subject.as_trained
    if book is None or book.errors or not any(made.kind == "data" for made in book.types.values()):
        return ()
    return offers(project, book)
