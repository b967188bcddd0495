-- postgres -> spark. Each query says above it what must happen; see ../pairs.py.

-- ## integer division and arithmetic

-- agrees
select 7 / 2, -7 / 2, 7 / -2, 7 / 2.0e0::float8, 7::float8 / 2;

-- refused: a quotient of decimals has other digits there
select 7.0 / 2;

-- refused: whether `/` divides whole numbers depends on the columns' types
select a / b from (values (7, 2)) t(a, b);

-- agrees
select a::bigint / b::bigint from (values (7, 2), (-7, 2)) t(a, b);

-- agrees
select a / b::float8 from (values (7, 2)) t(a, b);

-- fails
select 7 / 0;

-- fails
select 7::float8 / 0;

-- agrees
select -7 % 3, mod(7, -3), abs(-2), ceil(1.2), floor(-1.2);

-- fails
select 2147483647 + 1;

-- agrees
select 1e3 + 0.5, 1.5e2;

-- agrees
select 2 ^ 3, sqrt(4::float8), ln(10::float8), log(100::float8), exp(1::float8), cbrt(27), power(2, 3);

-- refused: LOG of a decimal is a decimal here and a double there
select log(100.0);

-- fails
select ln(0::float8);

-- fails
select sqrt(-1::float8);

-- agrees
select round(2.5), round(-2.5), round(2.5::float8), round(3.5::float8), round(1.005, 2);

-- agrees
select round(x) from (values (2.5::float8), (3.5)) t(x);

-- agrees
select round(x) from (values (2.5), (3.5)) t(x);

-- agrees
select round(x, 2) from (values (1.005), (2.675)) t(x);

-- refused: there is no truncation of numbers
select trunc(1.55, 1);

-- refused: DECIMAL without precision differs everywhere
select div(7, 2);

-- agrees
select 7 # 2, 7 & 2, 7 | 8;

-- agrees
select greatest(1, null), least(1, null), coalesce(null, 2), nullif(1, 1);

-- ## casts

-- agrees
select 2.5::int, 3.5::int, (-2.5)::int, 2.5::float8::int, 3.5::float8::int;

-- agrees
select x::int from (values (2.5), (3.5), (-2.5)) t(x);

-- agrees
select x::int from (values (2.5::float8), (3.5)) t(x);

-- agrees
select x::int from (values ('12'), (' 7 ')) t(x);

-- fails
select '1.5'::int;

-- fails
select 'abc'::int;

-- fails
select 70000::smallint;

-- fails
select 3000000000::int;

-- fails
select 1e20::bigint;

-- fails
select 123456::numeric(4,2);

-- agrees
select 1.005::numeric(10,2), '1.5'::numeric(10,3), 1::numeric(5,1);

-- refused: DECIMAL without precision differs everywhere
select x::numeric from (values (1)) t(x);

-- refused: halves of a double round differently into a decimal
select 1.5::float8::numeric(10,2);

-- agrees
select 12::text, 1.50::text, true::text, (date '2024-01-05')::text;

-- refused: the order of the two casts is read differently
select date '2024-01-05'::text;

-- agrees
select x::text from (values (12), (-3)) t(x);

-- stops
select x::text from (values (1.5::float8)) t(x);

-- agrees
select 'abcdef'::varchar(3);

-- refused: CHAR(n) is padded here
select 'abc'::char(5);

-- agrees
select 't'::boolean, 'false'::boolean, 0::boolean;

-- fails
select '2024-02-30'::date;

-- agrees
select '2024-1-5'::date, '2024-01-05 10:00:00'::date, '2024-01-05 10:00:00'::timestamp;

-- refused: the offset is ignored here and counted there
select '2024-01-05 10:00:00+02'::timestamp;

-- agrees
select '2024-01-05 10:00:00+02'::timestamptz;

-- refused: the type VARBINARY has no equal there
select 'a'::bytea;

-- refused: there is no JSON type
select '{}'::json;

-- ## text

-- agrees
select upper('abc'), lower('ÀÉ'), length('äöü'), reverse('abc'), repeat('ab', 3), replace('abcabc', 'b', '');

-- agrees
select substr('hello', 2, 3), substring('hello' from 2 for 3), left('hello', 2), right('hello', 2);

-- refused: a start below 1 means something else there
select substr('hello', -3, 2);

-- refused: a length below 0 means something else there
select left('hello', -1);

-- refused: SUBSTRING by pattern is not known there
select substring('hello' from 'l+');

-- agrees
select concat('a', null, 'b'), concat('a', 1), concat_ws(',', 'a', null, 'b'), 'a' || null, 'a' || 1;

-- agrees
select trim('  a  '), btrim('xyaxy', 'xy'), ltrim('xxa', 'x'), trim(trailing 'x' from 'axx'), lpad('abc', 5, 'xy'), lpad('abc', 2), rpad('a', 3);

-- agrees
select position('b' in 'abc'), strpos('abc', 'c'), split_part('a,b,c', ',', 2), split_part('a,b,c', ',', -1), split_part('a,b,c', ',', 5), starts_with('abc', 'a');

-- agrees
select translate('abc', 'ab', 'x'), ascii('a'), chr(97), md5('a'), octet_length('ä'), overlay('abcd' placing 'X' from 2 for 1);

-- refused: a word ends elsewhere there
select initcap('foo-bar');

-- refused: it returns bytes here and text there
select sha256('a');

-- agrees
select 'abc' like 'A%', 'abc' ilike 'A%', 'a_c' like 'a\_c', 'abc' like 'a\_c', 'a%c' like 'a!%c' escape '!';

-- refused: SIMILAR TO is read differently everywhere
select 'abc' similar to '(a|b)%';

-- agrees
select 'abc' ~ 'B', 'abc' ~* 'B', 'abc' !~ 'B', E'a\nb' ~ 'a.b', E'a\n' ~ 'a$';

-- refused: this pattern uses what regular expression engines read differently
select 'abc' ~ '\d';

-- refused: this pattern uses what regular expression engines read differently
select 'abc' ~ '[[:alpha:]]';

-- agrees
select regexp_replace('abcabc', 'b', 'X', 'g'), regexp_replace('abc', '(b)', '[\1]', 'g'), regexp_count('abcabc', 'b');

-- refused: only the first match is replaced here, and every one there
select regexp_replace('abcabc', 'b', 'X');

-- refused: PostgreSQL prefers the longest alternative, Spark the first
select regexp_replace('abcabc', 'a|ab', 'X', 'g');

-- refused: it returns an array
select regexp_match('abc', 'b');

-- refused: formats differ
select format('%s', 1);

-- agrees
select 'a\nb', E'a\nb', $$x'y$$, 'it''s';

-- refused: there are no U& texts
select U&'d\0061t';

-- ## dates and times

-- agrees
select date '2024-01-31' + 1, date '2024-01-31' - 1, date '2024-03-01' - date '2024-02-01', '2024-01-01'::date + interval '1 month';

-- agrees
select d + interval '1 day' from (values (date '2024-01-31')) t(d);

-- agrees
select d - interval '2 hours' from (values (timestamp '2024-01-31 01:00:00')) t(d);

-- agrees
select d from (values (date '2024-01-31'), (date '2024-02-02')) t(d) where d < date '2024-01-01' + interval '31 days';

-- refused: date minus date counts days here and is an interval there
select current_date - d from (values (date '2024-01-31')) t(d);

-- agrees
select timestamp '2024-01-31 10:00:00' - timestamp '2024-01-01 00:00:00';

-- refused: only an interval of one number and one unit is the same everywhere
select interval '1 day 2 hours';

-- refused: intervals take whole numbers
select interval '1-2' year to month;

-- agrees
select extract(year from d), extract(month from d), extract(quarter from d), extract(week from d), extract(doy from d), extract(dow from d), extract(isodow from d) from (values (date '2024-12-30'), (date '2024-02-25')) t(d);

-- agrees
select date_part('year', date '2024-02-29'), date_part('dow', date '2024-02-25');

-- agrees
select extract(second from timestamp '2024-02-29 05:07:01.5'), extract(epoch from timestamp '2024-02-29 00:00:01.5');

-- refused: an interval has no epoch there
select extract(epoch from timestamp '2024-02-29 00:00:01' - timestamp '2024-02-29 00:00:00');

-- refused: there is no part MILLENNIUM
select extract(millennium from date '2024-02-29');

-- agrees
select date_trunc('month', timestamp '2024-02-29 10:00:00'), date_trunc('week', timestamp '2024-02-25 10:00:00'), date_trunc('day', date '2024-02-25');

-- agrees
select date_trunc('hour', d) from (values (timestamp '2024-02-29 10:10:00')) t(d);

-- refused: no such unit there
select date_trunc('century', date '2024-02-25');

-- agrees
select to_char(timestamp '2024-01-05 10:11:12', 'YYYY-MM-DD HH24:MI:SS');

-- refused: only year, month, day, hour, minute and second are formatted alike
select to_char(timestamp '2024-01-05 10:11:12', 'Day');

-- refused: only year, month, day, hour, minute and second are formatted alike
select to_char(1234, '9999');

-- refused: texts that do not fit the pattern are treated differently
select to_date('05/01/2024', 'DD/MM/YYYY');

-- agrees
select to_timestamp(1700000000), to_timestamp(1700000000.5);

-- refused: there are no intervals of months and days
select age(date '2024-03-01', date '2024-02-01');

-- agrees
select timestamptz '2024-01-05 10:00:00+00' at time zone 'America/New_York', timestamptz '2024-07-05 10:00:00+02' at time zone 'Europe/Berlin';

-- refused: the hour that a clock shows twice in autumn is read differently there
select timestamp '2024-11-03 01:30:00' at time zone 'America/New_York';

-- agrees
select now() > timestamptz '2020-01-01 00:00:00+00', current_date > date '2020-01-01', now()::date = current_date;

-- agrees
select make_date(2024, 2, 29);

-- fails
select make_date(2024, 2, 30);

-- agrees
select date '2024-01-15' between date '2024-01-01' and date '2024-01-31', 2 between symmetric 3 and 1;

-- ## arrays and structs

-- agrees
select (array[1, 2, 3])[1], (array[1, 2, 3])[5], (array[1, 2, 3])[0], (array[1, 2, 3])[-1];

-- agrees
select a[i] from (values (array[10, 20], 2), (array[10, 20], 5), (array[10, 20], -1)) t(a, i);

-- refused: a slice of an array is not known there
select (array[1, 2, 3])[1:2];

-- agrees
select array_length(array[1, 2], 1), cardinality(array[1, 2]), array_append(array[1], 2), array_position(array[1, 2], 2), array_position(array[1, 2], 9), array_to_string(array['a', null, 'b'], ',');

-- agrees
select array_length(array[]::int[], 1);

-- refused: a NULL array makes the whole NULL there
select array_cat(array[1], null);

-- agrees
select 2 = any(array[1, 2]), 5 = any(array[1, null]);

-- refused: nobody has proven that all means the same there
select 2 <> all(array[1, 3]);

-- refused: @> is not known there
select array[1, 2] @> array[1];

-- refused: NULLs and empty texts differ
select string_to_array('a,b', ',');

-- agrees
select unnest(array[1, 2, 3]);

-- agrees
select k, x from (values ('a', array[1, 2]), ('b', array[]::int[])) t(k, l), unnest(l) u(x);

-- agrees
select k, x from (values ('a', array[1, 2])) t(k, l) cross join lateral unnest(l) u(x);

-- refused: positions start elsewhere there
select x, i from unnest(array[10, 20]) with ordinality u(x, i);

-- refused: GENERATE_SERIES makes rows
select * from generate_series(1, 3) g(x);

-- refused: GENERATE_SERIES makes rows
select generate_series(1, 3);

-- refused: fields without names are not known there
select row(1, 'a');

-- ## JSON

-- agrees
select '{"a": {"b": "x"}}'::json -> 'a' ->> 'b', '[1, 2]'::json ->> 0, '{"a.b": 1}'::json ->> 'a.b';

-- refused: there is no JSON type
select j ->> 'a' from (values ('{"a": null}'::jsonb), ('{"a": "q"}'), ('{"a": 5}'), (null)) t(j);

-- refused: a JSON text loses its quotes there
select '{"s": "q"}'::json -> 's';

-- fails
select 'nope'::json ->> 'a';

-- refused: a path in braces is not known there
select '{"a": [1, 2]}'::jsonb #>> '{a,1}';

-- refused: nobody has proven that jsonb_build_object means the same there
select jsonb_build_object('a', 1);

-- ## aggregates

-- agrees
select count(*), count(x), count(distinct x), sum(x), min(x), max(x) from (values (1), (2), (2), (null)) t(x);

-- refused: the mean of whole numbers or decimals has other digits there
select avg(x) from (values (1), (2)) t(x);

-- agrees
select avg(x::float8), stddev(x::float8), var_pop(x::float8) from (values (1), (2), (4)) t(x);

-- refused: STDDEV of a decimal is a decimal here and a double there
select stddev(x) from (values (1), (2)) t(x);

-- agrees
select array_agg(x) from (values (3), (null)) t(x);

-- agrees
select array_agg(x) from (values (1)) t(x) where x > 1;

-- refused: an array is collected in no order there, and without NULLs
select array_agg(x order by x desc) from (values (1), (2)) t(x);

-- agrees
select string_agg(x, ',' order by x) from (values ('b'), (null), ('a')) t(x);

-- agrees
select bool_and(x > 0), every(x > 0), bool_or(x > 5), count(*) filter (where x > 1) from (values (1), (2)) t(x);

-- agrees
select percentile_cont(0.5) within group (order by x) from (values (1), (2), (9)) t(x);

-- refused: PERCENTILE_DISC differs there
select percentile_disc(0.5) within group (order by x) from (values (1), (2)) t(x);

-- refused: which of several most frequent values it takes differs
select mode() within group (order by x) from (values (1), (2)) t(x);

-- agrees
select a, grouping(a), sum(b) from (values (1, 2), (2, 3)) t(a, b) group by cube (a);

-- ## windows

-- agrees
select x, row_number() over (order by x), rank() over (order by x desc), lag(x) over (order by x), lead(x, 1, 0) over (order by x), first_value(x) over (order by x), last_value(x) over (order by x) from (values (1), (null), (2)) t(x);

-- agrees
select d, sum(x) over (order by d range between interval '1 day' preceding and current row) from (values (date '2024-01-01', 1), (date '2024-01-02', 2), (date '2024-01-04', 3)) t(d, x);

-- agrees
select x, sum(x) over (order by x rows between 1 preceding and 1 following), sum(x) over w from (values (1), (2), (4)) t(x) window w as (order by x desc);

-- refused: there are no GROUPS frames
select x, count(*) over (order by x groups between 1 preceding and current row) from (values (1), (1), (2)) t(x);

-- refused: frames have no EXCLUDE there
select x, sum(x) over (order by x rows between unbounded preceding and current row exclude current row) from (values (1), (2)) t(x);

-- ## NULL and NaN ordering

-- agrees
select x from (values (1), (null), (3)) t(x) order by x;

-- agrees
select x from (values (1), (null), (3)) t(x) order by x desc;

-- agrees
select x from (values (1), (null), (3)) t(x) order by x desc nulls last;

-- agrees
select x from (values (1::float8), ('NaN'::float8), (null), ('Infinity'::float8)) t(x) order by x desc;

-- agrees
select 'NaN'::float8 = 'NaN'::float8, 'NaN'::float8 > 'Infinity'::float8;

-- agrees
select max(x), min(x) from (values (1::float8), ('NaN'::float8)) t(x);

-- agrees
select 1 is distinct from null, 1 not in (2, null);

-- ## clauses

-- agrees
select distinct on (a) a, b from (values (1, 2), (1, 1)) t(a, b) order by a, b desc;

-- agrees
select x from (values (1), (2), (3)) t(x) order by x fetch first 2 rows only;

-- refused: FETCH takes neither PERCENT nor WITH TIES there
select x from (values (1), (2), (2)) t(x) order by x fetch first 2 rows with ties;

-- agrees
select Foo from (values (1)) t(FOO);

-- refused: names that differ only in case are one name there
select "Foo", foo from (values (1, 2)) t("Foo", foo);

-- agrees
select a from (values (1), (2)) t(a) where (a, 1) in (select 2, 1);

-- agrees
select t.a, u.b from (values (1)) t(a) cross join lateral (select a + 1) u(b);

-- agrees
with recursive r(n) as (select 1 union all select n + 1 from r where n < 4) select sum(n) from r;

-- agrees
select 1 union select 2 intersect select 2;

-- refused: two engines never sample the same rows
select a from (values (1), (2)) t(a) tablesample bernoulli (10);

-- refused: collations differ
select 'a' collate "C";

-- refused: nobody has proven that pg_backend_pid means the same there
select pg_backend_pid();

-- ## more of the same, found by trying to break it

-- stops
select d1 - d2 from (values (date '2024-01-05', date '2024-01-01')) t(d1, d2);

-- agrees
select a - b from (values (7, 2)) t(a, b);

-- agrees
select * from (values (1, 2)) t(a, k) join (values (2, 3)) u(k, b) using (k);

-- refused: a number of 4 bytes is computed with differently
select x::real from (values (1.5)) t(x);

-- agrees
select sum(a)::float8 / count(*), a::float8 * 2 from (values (1), (1)) t(a) group by a;

-- agrees
select max(d::date) - min(d::date) from (values (date '2024-01-01'), (date '2024-01-05')) t(d);

-- agrees
select date '2024-02-29' + interval '1 year', date '2024-03-31' - interval '1 month', date '2024-01-01' + 2 * interval '1 day';

-- agrees
select trim(x), length(trim(x)) from (values (E' a\t ')) t(x);

-- agrees
select 'a' < 'b', '' is null, nullif('', ''), length('😀'), substr('a😀b', 2, 1);

-- agrees
select 0.1 + 0.2, 1.10 - 1, 10.50 % 3, 2 * 1.25;

-- agrees
select case when x > 1 then 'a' end, coalesce(x, 0), x is null from (values (1), (2), (null)) t(x);

-- agrees
select rank() over (order by x), dense_rank() over (order by x desc nulls last) from (values (1), (null), (1)) t(x);

-- agrees
select sum(sum(x)) over (order by k) from (values (1, 1), (2, 2)) t(k, x) group by k;

-- agrees
select x from (values ('b'), (null), ('a'), ('')) t(x) order by x;

-- agrees
select t.k, u.x from (values (1, array[10, 20])) t(k, l), unnest(t.l) as u(x) where u.x > 10;

-- agrees
select '{"a": {"b c": [10, {"d": true}]}}'::json -> 'a' -> 'b c' -> 1 ->> 'd';

-- agrees
select ('{"n": 1.50}'::json ->> 'n')::numeric(10,2);

-- agrees
select a from (values (1), (2)) t(a) except select 2 order by a;
