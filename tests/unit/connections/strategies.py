"""Any connection of any kind, for property tests."""

from hypothesis import strategies as st

from ematix_flow.connections.model import KINDS, Connection, properties_of
from ematix_flow.connections.model.settings import Settings

# What a value may be made of: whatever an editor or a shell lets through.
TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="$"), min_size=1, max_size=8
)
SECRETS = st.sampled_from(["${VAR}", "${file:a/b}", "${vault:a/b#c}", "${aws:a}"])
REFERENCES = SECRETS | st.just("${VAR:-x y}")
# Together they log in twice, or are read as one URL: refused, and tested elsewhere.
_LOGINS = ("sasl_plain_", "sasl_scram_", "msk_iam", "oauthbearer")
_NOT_DRAWN = {"url", "path"}


def _value(each):
    if each.type is Settings:
        return st.dictionaries(TEXT, TEXT | REFERENCES, min_size=1, max_size=4)
    if each.choices:
        return st.sampled_from(each.choices)
    if each.type is bool:
        return st.booleans()
    if each.type is int:
        return st.integers(0, 65535)
    return SECRETS if each.secret else TEXT | REFERENCES


@st.composite
def connections(draw):
    model = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    known = properties_of(model)
    drawable = [k for k in known if k not in _NOT_DRAWN and not k.startswith(_LOGINS)]
    keys = draw(st.sets(st.sampled_from(drawable))) if drawable else set()
    config = {key: draw(_value(known[key])) for key in sorted(keys)}
    for key in model.requires:
        config.setdefault(key, "x")
    if "path" in known:
        config["path"] = draw(TEXT | REFERENCES)
    if model.kind == "schema_registry":
        config["url"] = "https://registry:8081/api"
    if model.kind == "iceberg":
        config.setdefault("uri", "thrift://hive:9083")
    return Connection.from_config(draw(TEXT), {"kind": model.kind, **config})
