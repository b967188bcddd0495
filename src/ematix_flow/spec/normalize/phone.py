"""Telephone numbers in the international form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ematix_flow._base.suggest import did_you_mean
from ematix_flow.spec.normalize.family import TEXT, Family
from ematix_flow.spec.normalize.marker import Fallible, Marker, OnFailure, policy, refuse


@dataclass(frozen=True, slots=True)
class Dialling:
    """How a country dials: its code, what stands before national and international numbers."""

    code: str
    trunk: str = "0"
    international: str = "00"


_AMERICAN = Dialling("1", trunk="1", international="011")
_WITH_ZERO = (
    "AE 971 AR 54 AT 43 BE 32 BG 359 CH 41 DE 49 EG 20 FI 358 FR 33 GB 44 HR 385 IE 353 IL 972 "
    "IN 91 LT 370 MA 212 MY 60 NL 31 NZ 64 PH 63 PK 92 RO 40 RS 381 SA 966 SE 46 SI 386 SK 421 "
    "TR 90 UA 380 VN 84 ZA 27"
)
_WITHOUT_TRUNK = (
    "CL 56 CR 506 CZ 420 DK 45 EE 372 ES 34 GR 30 IT 39 LU 352 LV 371 MT 356 MX 52 NO 47 PE 51 "
    "PL 48 PT 351"
)


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    words = text.split()
    return zip(words[::2], words[1::2], strict=True)


COUNTRIES: dict[str, Dialling] = {
    **dict.fromkeys(("CA", "DO", "JM", "PR", "US"), _AMERICAN),
    **{country: Dialling(code) for country, code in _pairs(_WITH_ZERO)},
    **{country: Dialling(code, trunk="") for country, code in _pairs(_WITHOUT_TRUNK)},
    "AU": Dialling("61", international="0011"),
    "CN": Dialling("86", trunk="0"),
    "HK": Dialling("852", trunk="", international="001"),
    "HU": Dialling("36", trunk="06"),
    "JP": Dialling("81", international="010"),
    "SG": Dialling("65", trunk="", international="000"),
}


@dataclass(frozen=True, slots=True)
class PhoneNormalize(Fallible):
    """What `phone_normalize()` makes."""

    called: ClassVar[str] = "phone_normalize"
    country: str | None = None

    @property
    def takes(self) -> frozenset[Family]:
        """Text alone."""
        return TEXT

    @property
    def dialling(self) -> Dialling | None:
        """How the country dials, where one is named."""
        return COUNTRIES[self.country] if self.country else None

    @property
    def expected(self) -> str:
        """A number that can be dialled from abroad."""
        if self.country is None:
            return "a telephone number with + and a country code"
        return f"a telephone number of {self.country}, or one with + and a country code"


def phone_normalize(
    country: str | None = None, *, on_failure: OnFailure = "fail", default: str | None = None
) -> Marker:
    """Write a telephone number as `+` and digits (the form of E.164).

    :param country: Whose numbers come without a country code, by its two letters: `"DE"`.
    """
    policy("phone_normalize", on_failure, default)
    if default is not None and not isinstance(default, str):
        refuse(f"phone_normalize: default takes text, not {default!r}")
    if country is not None and country not in COUNTRIES:
        refuse(
            f"phone_normalize: country {country!r} is not known"
            + did_you_mean(country, COUNTRIES)
            + f" (known: {', '.join(sorted(COUNTRIES))})",
            hint="leave it out where all numbers have a country code",
        )
    return PhoneNormalize(country, on_failure=on_failure, default=default)
