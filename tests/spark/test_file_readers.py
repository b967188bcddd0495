"""CSV and Parquet sources, read by Spark as they were checked."""

import pytest

from ematix_flow.backends.files import find_files
from ematix_flow.backends.impl.csv import quotes
from ematix_flow.backends.impl.csv.read import CsvReader
from ematix_flow.backends.impl.parquet.read import ParquetReader
from ematix_flow.connections.model import CsvConnection, ParquetConnection
from ematix_flow.engine.spark.errors import translating
from ematix_flow.errors import DeclarationError, FlowError, NotSupported, SourceError

HEADER = "id,name,note\n"


def csv_reader(folder, **properties):
    return CsvReader(CsvConnection(name="landing", path=str(folder), **properties))


def put(folder, **files):
    """Write `name="text"` as name.csv; `sub__name` goes into a folder."""
    for name, content in files.items():
        file = folder / (name.replace("__", "/") + ".csv")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def rows(frame):
    return sorted(tuple(row) for row in frame.collect())


def refusal(folder, kind=SourceError, relation="t", **properties):
    with pytest.raises(kind) as caught:
        csv_reader(folder, **properties).inspect(relation)
    return str(caught.value)


# Which files -----------------------------------------------------------------------------------


def test_the_files_that_were_checked_are_the_ones_read(spark, tmp_path):
    put(tmp_path, t__a=HEADER + "1,a,x\n", t___hidden="junk\x01", t__b=HEADER + "2,b,y\n")
    (tmp_path / "t" / "b.csv").rename(tmp_path / "t" / "b.CSV")
    (tmp_path / "t" / "_SUCCESS").touch()
    (tmp_path / "t" / ".a.csv.crc").touch()
    (tmp_path / "t" / "_temporary").mkdir()
    reader = csv_reader(tmp_path)
    assert reader.inspect("t").description.startswith("t, 2 files")
    assert rows(reader.read_relation(spark, "t")) == [("1", "a", "x"), ("2", "b", "y")]


def test_many_files_are_read_as_their_folder(spark, tmp_path):
    """Spark would list more than 32 paths with a job of its own."""
    put(tmp_path, **{f"t__{number}": f"{HEADER}{number},a,x\n" for number in range(40)})
    found = find_files(tmp_path, "t", ".csv")
    assert found.paths(spark) == [str(tmp_path / "t")]
    assert csv_reader(tmp_path).read_relation(spark, "t").count() == 40


@pytest.mark.parametrize("folder", ["plain", "k=1", "a [b] {c}, d*?é\\"])
def test_folders_of_any_name(spark, tmp_path, folder):
    put(tmp_path / folder, t__a=HEADER + "1,a,x\n", t__b=HEADER + "2,b,y\n")
    frame = csv_reader(tmp_path / folder).read_relation(spark, "t")
    assert frame.columns == ["id", "name", "note"]
    assert len(rows(frame)) == 2


@pytest.mark.proves("bad-files")
@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("x.csv.bak", SourceError, "holds 'x.csv.bak', which is no .csv file"),
        ("a.csv.gz", SourceError, "holds 'a.csv.gz', which is no .csv file"),
        ("_k=1.csv", SourceError, "holds '_k=1.csv'"),
        ("nested/a.csv", SourceError, "holds the folder 'nested'"),
        ("year=2026/a.csv", NotSupported, "is partitioned (year=2026/): that is not built yet"),
    ],
)
def test_a_folder_with_anything_else_is_refused(tmp_path, name, kind, expected):
    put(tmp_path, t__a=HEADER)
    file = tmp_path / "t" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(HEADER)
    assert expected in refusal(tmp_path, kind)


def test_a_file_beside_a_folder_of_its_name_is_ambiguous(tmp_path):
    put(tmp_path, t=HEADER, t__a=HEADER)
    text = refusal(tmp_path)
    assert f"'{tmp_path}/t' or '{tmp_path}/t.csv'" in text


def test_a_hidden_file_would_be_read_as_no_rows(tmp_path):
    put(tmp_path, _t=HEADER + "1,a,x\n")
    assert "is hidden" in refusal(tmp_path, relation="_t")
    assert "is hidden" in refusal(tmp_path / "_t.csv", relation="_t")


def test_a_folder_that_may_not_be_listed(tmp_path, monkeypatch):
    def denied(_path):
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr("pathlib.Path.iterdir", denied)
    assert f"'{tmp_path}' cannot be read: Permission denied" in refusal(tmp_path)


# What is in them -------------------------------------------------------------------------------


@pytest.mark.proves("bad-files")
@pytest.mark.parametrize("row", ["1,a,x,more", "1,a"])
@pytest.mark.parametrize("note", ["x", '"two\nlines"'])
@pytest.mark.parametrize("asked", ["id", "count(*)"])
def test_a_row_of_the_wrong_width_stops_any_query(spark, tmp_path, row, note, asked):
    put(tmp_path, t=f"{HEADER}0,a,{note}\n{row}\n")
    frame = csv_reader(tmp_path).read_relation(spark, "t").selectExpr(asked)
    with pytest.raises(SourceError, match=r"t\.csv"), translating():
        frame.collect()


@pytest.mark.parametrize("schema", ["text", "infer", "id STRING, name STRING, note STRING"])
@pytest.mark.parametrize("end", ["\n", "\r"])
def test_a_line_end_inside_quotes_is_part_of_its_field(spark, tmp_path, schema, end):
    """Both halves have the right width, so nothing else would notice."""
    put(tmp_path, t=f'{HEADER}a,b,"x{end}y,5,6"\n'.encode())
    frame = csv_reader(tmp_path, schema=schema).read_relation(spark, "t")
    assert rows(frame) == [("a", "b", f"x{end}y,5,6")]


@pytest.mark.parametrize(
    ("content", "spans"),
    [
        ("a,b\n1,2\n", False),
        ('a,b\n"1","2 ""x"" "\n', False),
        ('a,b\n1,5" pipe\n', False),
        ('a,b\n"1\n2",3\n', True),
        ('a,b\r\n"1\r\n2",3\r\n', True),
        ('"a\nb",c\n', True),
        ('a,b\n"x ""y\n"" z",3\n', True),
    ],
)
def test_line_ends_in_quotes_are_found(tmp_path, content, spans):
    put(tmp_path, t=content.encode())
    found = find_files(tmp_path, "t", ".csv")
    connection = CsvConnection(name="c", path=".")
    assert quotes.has_line_ends_in_quotes(found, connection) == spans


def test_line_ends_after_an_escaped_quote(tmp_path):
    put(tmp_path, t=b'a,b\n"x \\" y",1\n"x \\"\n",1\n')
    found = find_files(tmp_path, "t", ".csv")
    connection = CsvConnection(name="c", path=".", escape="\\")
    assert quotes.has_line_ends_in_quotes(found, connection)


def test_lines_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(quotes, "_BLOCK", 4)
    put(tmp_path, t='a,b\n1,"two\nlines"\n', u='a,b\n"1","long enough"\n')
    connection = CsvConnection(name="c", path=".")
    for relation, spans in (("t", True), ("u", False)):
        found = find_files(tmp_path, relation, ".csv")
        assert quotes.has_line_ends_in_quotes(found, connection) == spans


def test_a_large_table_is_not_looked_through(tmp_path, monkeypatch):
    monkeypatch.setattr(quotes, "LOOKED_THROUGH", 10)
    put(tmp_path, t='a,b\n1,"two\nlines"\n')
    found = find_files(tmp_path, "t", ".csv")
    assert not quotes.has_line_ends_in_quotes(found, CsvConnection(name="c", path="."))


@pytest.mark.proves("bad-files")
def test_a_quote_left_open_would_swallow_the_rows_after_it(spark, tmp_path):
    put(tmp_path, t=HEADER + '1,a,x\n2,b,"y\n3,c,z\n')
    with pytest.raises(SourceError, match="never closed: it opens in line 3"):
        csv_reader(tmp_path).read_relation(spark, "t")


@pytest.mark.proves("bad-files")
@pytest.mark.parametrize("schema", ["text", "infer", "id BIGINT, name STRING, note STRING"])
def test_files_of_one_table_have_one_header(tmp_path, schema):
    put(tmp_path, t__a=HEADER + "1,a,x\n", t__b="id,note,name\n1,x,a\n")
    assert "b.csv' has other columns (id, note, name)" in refusal(tmp_path, schema=schema)


def test_a_declared_schema_names_the_columns_of_the_file(spark, tmp_path):
    put(tmp_path, t=HEADER + "1,a,x\n")
    good = csv_reader(tmp_path, schema="ID BIGINT, name STRING, note STRING")
    assert rows(good.read_relation(spark, "t")) == [(1, "a", "x")]
    wrong = csv_reader(tmp_path, schema="id BIGINT, note STRING, name STRING")
    with pytest.raises(SourceError, match="schema says id, note, name"):
        wrong.read_relation(spark, "t")


def test_columns_without_a_name(spark, tmp_path):
    put(tmp_path, t=",a,\n1,2,3\n")
    assert csv_reader(tmp_path).read_relation(spark, "t").columns == ["_c0", "a", "_c2"]


@pytest.mark.proves("bad-files")
@pytest.mark.parametrize("schema", ["text", "infer"])
def test_bytes_of_another_encoding_name_column_and_row(spark, tmp_path, schema):
    many = "".join(f"{number},good,x\n" for number in range(20_000))
    put(tmp_path, t=(HEADER + many).encode() + "7000,Zürich,x\n".encode("latin-1"))
    frame = csv_reader(tmp_path, schema=schema).read_relation(spark, "t")
    with pytest.raises(SourceError) as caught, translating():
        frame.select("name").collect()
    text = str(caught.value)
    assert "column 'name'" in text
    assert "not UTF-8: Z\N{REPLACEMENT CHARACTER}rich (row id=7000, name=" in text
    good = csv_reader(tmp_path, encoding="ISO-8859-1").read_relation(spark, "t")
    assert good.where("name = 'Zürich'").count() == 1


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-16LE"])
def test_wide_characters(spark, tmp_path, encoding):
    put(tmp_path, t=(HEADER + "1,ä,x\n").encode(encoding))
    reader = csv_reader(tmp_path, encoding=encoding)
    assert rows(reader.read_relation(spark, "t")) == [("1", "ä", "x")]


def test_text_that_means_null(spark, tmp_path):
    put(tmp_path, t=HEADER + "1,NA,x\n")
    reader = csv_reader(tmp_path, null_value="NA")
    assert rows(reader.read_relation(spark, "t")) == [("1", None, "x")]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"delimiter": "||"}, "delimiter takes one character, not '||'"),
        ({"delimiter": "\n"}, "delimiter takes one character"),
        ({"quote": ""}, "quote takes one character, not ''"),
        ({"escape": ""}, "escape takes one character"),
        ({"delimiter": '"'}, "is also its quote"),
    ],
)
def test_marks_of_one_character(tmp_path, properties, expected):
    put(tmp_path, t=HEADER)
    assert expected in refusal(tmp_path, DeclarationError, **properties)


@pytest.mark.proves("bad-files")
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("x" * 200_000 + ",b\n", "has a first row that cannot be read (field larger than"),
        ("\n\n", "only blank lines"),
        (b"ORC\x08\x03rest", "is not CSV: it is ORC"),
    ],
)
def test_a_first_row_that_is_none(tmp_path, content, expected):
    put(tmp_path, t=content)
    assert expected in refusal(tmp_path)


@pytest.mark.parametrize("name", ["ORCID", "PAR1"])
def test_a_header_may_begin_like_a_format(tmp_path, name):
    put(tmp_path, t=f"{name},b\n1,2\n")
    assert csv_reader(tmp_path).inspect("t").size_bytes


def test_an_unknown_encoding(tmp_path):
    put(tmp_path, t=HEADER)
    assert "there is no encoding 'UTF-9'" in refusal(tmp_path, encoding="UTF-9")


# Parquet ---------------------------------------------------------------------------------------


@pytest.mark.proves("bad-files")
def test_parquet_files_of_one_table_agree(spark, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    reader = ParquetReader(ParquetConnection(name="lake", path=str(tmp_path)))
    folder = tmp_path / "t"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1], "b": ["x"]}), folder / "1.parquet")
    pq.write_table(pa.table({"b": ["y"], "a": [2]}), folder / "2.PARQUET")
    assert rows(reader.read_relation(spark, "t").select("a", "b")) == [(1, "x"), (2, "y")]
    pq.write_table(pa.table({"a": [1.5], "c": ["x"]}), folder / "3.parquet")
    with pytest.raises(SourceError, match=r"3\.parquet' has other columns .*: a, b, c differ"):
        reader.read_relation(spark, "t")
    (folder / "3.parquet").write_bytes(b"PAR1 this is not a footer PAR1")
    with pytest.raises(FlowError, match=r"3\.parquet' is not Parquet that can be read"):
        reader.read_relation(spark, "t")
