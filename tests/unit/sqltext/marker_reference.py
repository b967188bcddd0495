"""What each marker means, in plain Python: slow, obvious, and sharing nothing with the SQL."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from itertools import product
from zoneinfo import ZoneInfo

from ematix_flow.spec.normalize.number import Clamp, ParseInt, ParseNumeric, Round
from ematix_flow.spec.normalize.phone import PhoneNormalize
from ematix_flow.spec.normalize.text import (
    EmailNormalize,
    EmptyToNull,
    Lower,
    RegexReplace,
    Replace,
    Trim,
    Truncate,
    Upper,
    WhitespaceToNull,
)
from ematix_flow.spec.normalize.time import DateTrunc, ParseDate, ParseTimestamp, ToTimezone
from ematix_flow.spec.normalize.value import Default, NullIf, ParseBool
from ematix_flow.spec.types import Numeric


class Failed(Exception):
    """The marker can make nothing of the value."""


def expected(markers, value, kind):
    """Return (what becomes of the value, whether a marker that reports failed)."""
    for marker in markers:
        if value is None and not isinstance(marker, Default):
            continue
        try:
            value = meaning(marker, value, kind)
        except Failed:
            if marker.default is None and marker.on_failure != "null":
                return None, True
            value = marker.default
    return value, False


def meaning(marker, value, kind):  # noqa: C901, PLR0912  # one line for each marker
    match marker:
        case Trim():
            return value.strip()
        case Lower():
            return value.lower()
        case Upper():
            return value.upper()
        case EmptyToNull():
            return value or None
        case WhitespaceToNull():
            return value if value.strip() else None
        case Replace(old, new):
            return value.replace(old, new)
        case RegexReplace(pattern, replacement):
            python = re.sub(r"\$(\d)", r"\\g<\1>", replacement)
            return re.sub(pattern, python, value, flags=re.ASCII)
        case Truncate(length):
            return value[:length]
        case EmailNormalize(gmail):
            return email(value, gmail=gmail)
        case PhoneNormalize():
            return phone(marker, value)
        case ParseInt():
            return whole(value.strip(), marker.thousands)
        case ParseNumeric():
            return exact(value.strip(), marker.thousands, marker.decimal, kind)
        case Round(digits, half):
            return rounded(value, digits, half)
        case Clamp(least, most):
            low = value if least is None or value >= least else least
            return low if most is None or low <= most else most
        case ParseBool(true, false):
            return word(value.strip(), true, false)
        case ParseDate():
            return moment(marker, value.strip()).date()
        case ParseTimestamp():
            return moment(marker, value.strip())
        case ToTimezone(zone):
            aware = value if value.tzinfo else value.replace(tzinfo=UTC)
            return aware.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        case DateTrunc():
            return start(marker, value)
        case Default(default):
            return default if value is None else value
        case NullIf(values):
            return None if value in values else value
        case _:
            raise AssertionError(marker)


def email(value, *, gmail):
    value = value.strip().lower()
    local, at, domain = value.rpartition("@")
    if not gmail or not at or "@" in local or domain not in ("gmail.com", "googlemail.com"):
        return value
    mailbox = local.partition("+")[0].replace(".", "")
    return f"{mailbox}@gmail.com" if mailbox else value


SEPARATORS = set("-./()\u2010\u2011\u2012\u2013\u2014\u2015\u2212")


def phone(marker, value):
    value = value.strip()
    dialling = marker.dialling
    international = dialling.international if dialling else "00"
    if value.startswith(("+", international)):
        value = value.replace("(0)", "")
    value = "".join(c for c in value if c not in SEPARATORS and not c.isspace())
    if value.startswith("+"):
        number = value[1:]
    elif value.startswith(international):
        number = value[len(international) :]
    elif dialling is None:
        raise Failed
    else:
        number = dialling.code + value.removeprefix(dialling.trunk)
    digits = all(c in "0123456789" for c in number)
    if not digits or not 7 <= len(number) <= 15 or number[0] == "0":
        raise Failed
    return f"+{number}"


def ungrouped(digits, thousands):
    """Digits without separators; None where a group is not of three digits."""
    if thousands is None or thousands not in digits:
        return digits
    first, *groups = digits.split(thousands)
    if not 1 <= len(first) <= 3 or any(len(group) != 3 for group in groups):
        raise Failed
    return first + "".join(groups)


def unsigned(value):
    return (value[1:], -1 if value[0] == "-" else 1) if value[:1] in ("+", "-") else (value, 1)


def is_digits(value):
    return bool(value) and all(c in "0123456789" for c in value)


def whole(value, thousands):
    digits, sign = unsigned(value)
    digits = ungrouped(digits, thousands)
    if not is_digits(digits) or not -(2**63) <= sign * int(digits) < 2**63:
        raise Failed
    return sign * int(digits)


def exact(value, thousands, point, kind):
    digits, sign = unsigned(value)
    left, has_point, right = digits.partition(point)
    left = ungrouped(left, thousands)
    if (
        not is_digits(left + right)
        or (right and not is_digits(right))
        or (left and not is_digits(left))
    ):
        raise Failed
    scale = 18
    if isinstance(kind, Numeric):
        scale = max(kind.scale, min(18, 38 - (kind.precision - kind.scale)))
    left, right = left.lstrip("0"), right.rstrip("0")
    if len(left) > 38 - scale or len(right) > scale:
        raise Failed
    del has_point
    # Not multiplied: that would round to 28 digits.
    return Decimal(f"{'-' if sign < 0 else ''}{left or '0'}.{right or '0'}")


def rounded(value, digits, half):
    mode = ROUND_HALF_EVEN if half == "even" else ROUND_HALF_UP
    with localcontext(prec=80):
        if isinstance(value, float):
            return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), mode))
        return Decimal(value).quantize(Decimal(1).scaleb(-digits), mode)


def word(value, true, false):
    for words, truth in ((true, True), (false, False)):
        for each in words:
            if value in (each, each.lower(), each.upper(), each.capitalize()):
                return truth
    raise Failed


def moment(marker, value):
    for format_ in marker.formats:
        found = read_time(value, format_)
        if found is None:
            continue
        if found.tzinfo is None and getattr(marker, "zone", None):
            return in_zone(found, ZoneInfo(marker.zone))
        return found.astimezone(UTC) if found.tzinfo else found
    raise Failed


def in_zone(wall, zone):
    """The first instant at which clocks show *wall*; Failed where they skip it."""
    instant = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None) != wall:
        raise Failed
    return instant


def read_time(value, format_):
    """Python reads generously, so what it read must be one of the spellings of the format."""
    try:
        found = datetime.strptime(value, format_.replace("%-", "%"))  # noqa: DTZ007  # as declared
    except ValueError:
        return None
    pieces = re.split(r"(%-?.)", format_)
    options = [spelt(piece, found) if piece[:1] == "%" else [piece] for piece in pieces]
    return found if any("".join(each) == value for each in product(*options)) else None


def spelt(directive, found):
    number = {
        "m": found.month,
        "d": found.day,
        "H": found.hour,
        "I": found.hour % 12 or 12,
        "M": found.minute,
        "S": found.second,
        "y": found.year % 100,
    }
    match directive[1:]:
        case "%":
            return ["%"]
        case "Y":
            return [f"{found.year:04}"]
        case "f":
            digits = f"{found.microsecond:06}"
            return [digits[:n] for n in range(1, 7) if not digits[n:].strip("0")]
        case "b" | "B" as name:
            months = "January February March April May June July August September October"
            month = f"{months} November December".split()[found.month - 1]
            short = month[:3] if name == "b" else month
            return [short, short.lower(), short.upper()]
        case "p":
            return ["PM", "pm"] if found.hour >= 12 else ["AM", "am"]
        case "z":
            return offsets(found.utcoffset())
        case letter:
            value = number[letter.lstrip("-")]
            return [f"{value:02}", *([str(value)] if letter[0] == "-" else [])]


def offsets(offset):
    minutes = int(offset / timedelta(minutes=1))
    if abs(minutes) >= 15 * 60 or offset != timedelta(minutes=minutes):
        return []
    signs = ["+", "-"] if minutes == 0 else ["+" if minutes > 0 else "-"]
    hours, rest = divmod(abs(minutes), 60)
    found = [f"{sign}{hours:02}{colon}{rest:02}" for sign in signs for colon in (":", "")]
    return [*found, "Z"] if minutes == 0 else found


def start(marker, value):
    if isinstance(value, datetime) and value.tzinfo is not None:
        zone = ZoneInfo(marker.zone or "UTC")
        wall = start(marker, value.astimezone(zone).replace(tzinfo=None))
        # Where the zone skips it: as much later as clocks went forward.
        return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if isinstance(value, datetime):
        day = datetime(value.year, value.month, value.day)
        if marker.unit in ("hour", "minute", "second"):
            kept = ("hour", "minute", "second")[
                : ("hour", "minute", "second").index(marker.unit) + 1
            ]
            return day.replace(**{unit: getattr(value, unit) for unit in kept})
        first = first_day(marker.unit, value.date())
        return datetime(first.year, first.month, first.day)
    return first_day(marker.unit, value)


def first_day(unit, day: date):
    match unit:
        case "year":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day - timedelta(days=day.weekday())
        case _:
            return day
