-- datafusion -> spark. Each query says above it what must happen; see ../pairs.py.

-- ## integer division and arithmetic

-- agrees
select 7 / 2 as a, -7 / 2 as b, 7.0 / 2 as c;

-- refused: whether `/` divides whole numbers depends on the columns' types
select a / b from (values (7, 2)) t(a, b);

-- agrees
select cast(a as bigint) / cast(b as bigint) as q from (values (7, 2), (-7, 2)) t(a, b);

-- agrees
select cast(a as double) / b as q from (values (7, 2)) t(a, b);

-- fails
select 7 / 0;

-- agrees
select -7 % 3 as a, abs(-2) as b, power(2, 3) as c, sqrt(4.0) as d, ln(10.0) as e, log(100.0) as f, log(2, 8) as g;

-- agrees
select round(2.675, 2) as a, round(1.5) as b, round(-2.5) as c, ceil(1.2) as d, floor(-1.2) as e;

-- refused: halves of a double round differently into a decimal
select round(cast(2.675 as decimal(10,3)), 2);

-- stops
select cast(2147483647 as int) + cast(1 as int);

-- agrees
select 1.5 + 1 as a, 2.5 * 2 as b;

-- agrees
select greatest(1, null, 3) as a, least(1, null) as b, nvl(null, 1) as c;

-- refused: there is no truncation of numbers
select trunc(1.55);

-- ## casts

-- agrees
select cast(2.5 as int) as a, cast(-2.5 as int) as b, cast('12' as int) as c;

-- agrees
select cast(x as int) as x from (values (2.5), (3.5)) t(x);

-- fails
select cast('1.5' as int);

-- fails
select cast(70000 as smallint);

-- fails
select cast(1e20 as bigint);

-- agrees
select cast(12 as varchar) as a, cast(true as varchar) as b, cast(date '2024-01-05' as varchar) as c;

-- refused: the text of a value of kind double differs
select cast(1.5 as varchar);

-- refused: halves of a double round differently into a decimal
select cast(1.005 as decimal(10,2));

-- agrees
select cast('1.5' as decimal(10,3)) as a, cast(2 as decimal(10,1)) as b;

-- fails
select cast('2024-02-30' as date);

-- agrees
select cast('2024-01-05 10:00:00' as timestamp);

-- refused: TIMESTAMP WITH TIME ZONE has no zone in DataFusion
select cast('2024-01-05 10:00:00' as timestamptz);

-- refused: there are no Arrow types
select arrow_cast(1, 'Int8');

-- ## text

-- agrees
select upper('abc') as a, lower('ÀÉ') as b, length('äöü') as c, reverse('abc') as d, repeat('ab', 3) as e, replace('abcabc', 'b', '') as f;

-- agrees
select substr('hello', 2, 3) as a, left('hello', 2) as b, right('hello', 2) as c;

-- refused: a start below 1 means something else there
select substr('hello', 0, 3);

-- refused: a length below 0 means something else there
select left('hello', -1);

-- agrees
select concat('a', null, 'b') as a, 'a' || null as b, concat_ws(',', 'a', null, 'b') as c;

-- agrees
select ltrim('xxa', 'x') as a, btrim(' a ') as b, lpad('abc', 5, 'xy') as c;

-- agrees
select strpos('abc', 'c') as a, split_part('a,b,c', ',', 2) as b, starts_with('abc', 'a') as c, instr('abc', 'b') as d;

-- agrees
select md5('a') as a, ascii('a') as b, chr(97) as c;

-- refused: a word ends elsewhere there
select initcap('foo-bar');

-- agrees
select 'abc' ~ 'b' as a, 'abc' ~* 'B' as b, regexp_like('abc', '^a') as c, 'a_c' like 'a\_c' as d;

-- refused: this pattern uses what regular expression engines read differently
select regexp_like('abc', '\d');

-- agrees
select regexp_replace('abcabc', 'b', 'X', 'g');

-- refused: groups in a replacement are written differently
select regexp_replace('abcabc', '(b)', '[$1]', 'g');

-- refused: only the first match is replaced here, and every one there
select regexp_replace('abcabc', 'b', 'X');

-- agrees
select regexp_count('abcabc', 'b');

-- agrees
select 'a\nb' as a, e'a\nb' as b, 'it''s' as c;

-- ## dates and times

-- agrees
select date '2024-01-31' + interval '1 month' as a, date '2024-01-31' + 1 as b, date '2024-03-01' - date '2024-02-01' as c;

-- agrees
select d + interval '1 day' as d from (values (date '2024-01-31')) t(d);

-- refused: hours added to a date are lost here
select date '2024-01-31' + interval '1 hour';

-- refused: hours added to a date are lost here
select d + interval '1 hour' as d from (values (timestamp '2024-01-31 23:30:00')) t(d);

-- agrees
select cast(d as timestamp) + interval '1 hour' as d from (values (timestamp '2024-01-31 23:30:00')) t(d);

-- agrees
select extract(year from date '2024-12-30') as a, extract(week from date '2024-12-30') as b, extract(dow from date '2024-02-25') as c, extract(isodow from date '2024-02-25') as d, date_part('doy', date '2024-02-25') as e;

-- agrees
select extract(second from timestamp '2024-02-29 05:07:01.5') as a, extract(epoch from timestamp '2024-02-29 00:00:01.5') as b;

-- agrees
select date_trunc('month', timestamp '2024-02-29 10:00:00') as a, date_trunc('week', date '2024-02-25') as b;

-- agrees
select to_char(timestamp '2024-01-05 10:11:12', '%Y-%m-%d %H:%M:%S');

-- agrees
select to_timestamp(1700000000);

-- refused: a text is read as a time there
select to_timestamp('2024-01-05 10:00:00');

-- refused: nobody has proven that it means the same in spark
select date_bin(interval '15 minutes', timestamp '2024-01-05 10:11:12');

-- refused: the hour that a clock shows twice in autumn is read differently there
select timestamp '2024-01-05 10:00:00' at time zone 'America/New_York';

-- agrees
select make_date(2024, 2, 29);

-- ## arrays and structs

-- agrees
select [1, 2, 3][1] as a, make_array(1, 2)[2] as b, [1, 2, 3][-1] as c, [1, 2][9] as d;

-- agrees
select array_has([1, 2], 2) as a, array_length([1, 2]) as b, array_append([1], 2) as c, array_position([1, 2], 2) as d, array_to_string(['x', 'y'], ',') as e, cardinality([1, 2]) as f;

-- agrees
select array_has(a, 3) as h from (values ([1, null]), ([3])) t(a);

-- agrees
select named_struct('a', 1, 'b', 'x') as s;

-- agrees
select {'a': 1} as s;

-- agrees
select unnest([1, 2, 3]) as x;

-- agrees
select x from unnest([1, 2]) as u(x);

-- refused: nobody has proven that it means the same in spark
select array_slice([1, 2, 3], 1, 2);

-- refused: nobody has proven that range means the same there
select range(1, 3);

-- ## aggregates

-- agrees
select count(*) as a, count(x) as b, count(distinct x) as c, sum(x) as d, min(x) as e, max(x) as f from (values (1), (2), (2), (null)) t(x);

-- refused: the mean of whole numbers or decimals has other digits there
select avg(x) from (values (1), (2)) t(x);

-- agrees
select avg(cast(x as double)) as a, median(cast(x as double)) as m, stddev(x) as b from (values (1), (2), (4)) t(x);

-- agrees
select array_agg(x) as a from (values (1), (null)) t(x);

-- refused: an array is collected in no order there, and without NULLs
select array_agg(x order by x) as a from (values (1), (2)) t(x);

-- agrees
select string_agg(x, ',' order by x desc) as a from (values ('a'), ('b')) t(x);

-- agrees
select bool_and(x > 0) as a, count(*) filter (where x > 1) as b from (values (1), (2)) t(x);

-- refused: estimates differ between engines
select approx_distinct(x) from (values (1)) t(x);

-- refused: there it is a window function only
select first_value(x order by x) as f from (values (2), (1)) t(x);

-- ## windows

-- agrees
select x, row_number() over (order by x) as a, lag(x) over (order by x) as b, sum(x) over (order by x rows between 1 preceding and current row) as c from (values (1), (null), (2)) t(x);

-- agrees
select d, sum(x) over (order by d range between interval '1 day' preceding and current row) as s from (values (date '2024-01-01', 1), (date '2024-01-02', 2), (date '2024-01-04', 3)) t(d, x);

-- agrees
select x from (values (1), (2)) t(x) qualify row_number() over (order by x desc) = 1;

-- ## NULL and NaN ordering

-- agrees
select x from (values (1), (null), (3)) t(x) order by x;

-- agrees
select x from (values (1), (null), (3)) t(x) order by x desc;

-- agrees
select x from (values (1e0), (cast('nan' as double)), (null)) t(x) order by x desc;

-- agrees
select cast('nan' as double) = cast('nan' as double) as a, cast('nan' as double) > 1 as b;

-- agrees
select max(x) as a, min(x) as b from (values (1e0), (cast('nan' as double))) t(x);

-- ## clauses

-- agrees
select Foo from (values (1)) t(FOO);

-- refused: names that differ only in case are one name there
select "Foo", foo from (values (1, 2)) t("Foo", foo);

-- agrees
select * exclude (b) from (values (1, 2)) t(a, b);

-- agrees
select distinct on (a) a, b from (values (1, 2), (1, 1)) t(a, b) order by a, b;

-- agrees
with recursive r(n) as (select 1 union all select n + 1 from r where n < 4) select sum(n) as s from r;

-- agrees
select a from (values (1), (2)) t(a) where a in (select 2) order by a limit 5;
