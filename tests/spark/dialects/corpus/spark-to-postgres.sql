-- spark -> postgres. Each query says above it what must happen; see ../pairs.py.

-- ## integer division and arithmetic

-- agrees
select 7 div 2, -7 div 2, 7 % -3, 7 / 2, 7D / 2;

-- refused: a quotient of decimals has other digits there
select a / b from values (7, 2) t(a, b);

-- agrees
select cast(a as double) / b from values (7, 2) t(a, b);

-- fails
select cast(a as double) / b from values (7, 0) t(a, b);

-- fails
select 7 div 0;

-- refused: a quotient of decimals has other digits there
select 7.0 / 2;

-- fails
select 2147483647 + 1;

-- agrees
select round(2.5), round(1.005, 2), abs(-2), ceil(1.2), floor(-1.2);

-- refused: halves of a double are rounded differently there
select round(1.005D, 2);

-- agrees
select ln(10), ln(x) from values (0), (1) t(x);

-- refused: a logarithm to a base differs
select log(2, 8);

-- refused: nobody has proven that bround means the same there
select bround(2.5);

-- ## casts

-- agrees
select cast(2.7 as int), cast(-2.7D as int), cast(true as int), 1L, 1.5BD;

-- agrees
select cast(x as int) from values (2.7), (-2.7) t(x);

-- agrees
select cast('12' as int);

-- fails
select cast(x as smallint) from values (70000) t(x);

-- agrees
select cast(12 as string), cast(1.50 as string), cast(date'2024-01-05' as string);

-- refused: the text of some types differs there
select cast(x as string) from values (1) t(x);

-- agrees
select cast('1.5' as decimal(10,3)), cast(5 as decimal);

-- refused: a double is rounded differently into a decimal there
select cast(x as decimal(10,2)) from values (1.5D) t(x);

-- refused: which values do not convert, and so become NULL, differs between engines
select try_cast('x' as int);

-- fails
select cast('2024-02-30' as date);

-- agrees
select cast('2024-01-05' as date), timestamp_ntz'2024-01-05 10:00:00', timestamp'2024-01-05 10:00:00+02:00';

-- ## text

-- agrees
select upper('abc'), length('äöü'), concat('a', null), concat('a', 'b', 'c'), concat_ws(',', 'a', null, 'b'), 'a' || 'b', substring('hello', 2, 3), left('hello', 2), replace('abc', 'b', 'x'), trim('  a ');

-- refused: a start below 1 means something else there
select substring('hello', 0, 2);

-- refused: below 1 every engine counts differently
select substring(s, n) from values ('hello', 2) t(s, n);

-- agrees
select instr('abc', 'c'), locate('b', 'abc'), split_part('a,b', ',', 2), lpad('a', 3, 'x'), md5('a'), startswith('abc', 'a');

-- agrees
select 'a_c' like 'a\\_c', 'abc' like 'a\\_c', 'abc' rlike '^a', "double", 'tab\tend', 'it\'s';

-- refused: this pattern uses what regular expression engines read differently
select 'abc' rlike '\\d';

-- refused: patterns and groups differ
select regexp_replace('abc', 'b', 'x');

-- refused: nobody has proven that it means the same in postgres
select initcap('a b');

-- ## dates and times

-- agrees
select date_add(date'2024-01-31', 1), date_sub(date'2024-01-31', 1), datediff(date'2024-03-01', date'2024-02-01');

-- agrees
select datediff(timestamp_ntz'2024-01-02 01:00:00', timestamp_ntz'2024-01-01 23:00:00');

-- refused: whole units are counted here, boundaries there
select datediff(MONTH, date'2024-01-31', date'2024-02-01');

-- agrees
select date'2024-01-31' + interval 1 month, timestamp_ntz'2024-01-31 10:00:00' + interval 2 hours;

-- refused: whether a date stays a date depends on the type
select d + interval 1 day from values (date'2024-01-31') t(d);

-- agrees
select d from values (date'2024-01-31') t(d) where d < date'2024-01-01' + interval 31 day;

-- refused: date minus date is an interval here, and counts days there
select date'2024-03-01' - date'2024-02-01';

-- agrees
select year(d), month(d), day(d), quarter(d), weekofyear(d), dayofyear(d), dayofweek(d) from values (date'2024-12-30'), (date'2024-02-25') t(d);

-- agrees
select date_trunc('MONTH', timestamp_ntz'2024-02-29 10:00:00');

-- refused: nobody has proven that it means the same in postgres
select date_format(timestamp_ntz'2024-01-05 10:11:12', 'yyyy-MM-dd HH:mm:ss');

-- agrees
select to_date('2024-01-05');

-- refused: nobody has proven that it means the same in postgres
select add_months(date'2024-01-31', 1);

-- ## arrays and structs

-- agrees
select get(array(1, 2), 0), get(array(1, 2), 5), size(array(1, 2));

-- refused: past its end an array raises here, and is NULL there
select array(1, 2)[0];

-- refused: past its end an array raises here, and is NULL there
select element_at(array(1, 2), 1);

-- refused: NULLs or errors are treated differently there
select array_contains(array(1, null), 3);

-- agrees
select k, x from values ('a', array(1, 2)), ('b', array(3)) t(k, l) lateral view explode(l) u as x;

-- refused: only LATERAL VIEW EXPLODE has an equal there
select k, x from values ('a', array(1, 2)) t(k, l) lateral view outer explode(l) u as x;

-- agrees
select explode(array(1, 2));

-- refused: nobody has proven that it means the same in postgres
select get_json_object('{"a": 1}', '$.a');

-- ## aggregates and windows

-- agrees
select count(*), count_if(x > 1), sum(x), min(x), max(x), stddev(x), collect_list(x) from values (1), (2), (null) t(x);

-- agrees
select collect_list(x) from values (1) t(x) where x > 1;

-- refused: the mean of decimals has other digits there
select avg(x) from values (1) t(x);

-- agrees
select avg(cast(x as double)), avg(cast(x as int)) from values (1), (2) t(x);

-- refused: NULLs or errors are treated differently there
select max_by(a, b) from values (1, 2) t(a, b);

-- agrees
select listagg(x, ',') within group (order by x) from values ('b'), ('a') t(x);

-- agrees
select x, row_number() over (order by x), lag(x) over (order by x desc), sum(x) over (order by x rows between 1 preceding and current row) from values (1), (null), (2) t(x);

-- agrees
select d, sum(x) over (order by d range between interval 1 day preceding and current row) from values (date'2024-01-01', 1), (date'2024-01-02', 2) t(d, x);

-- ## NULL and NaN ordering, clauses

-- agrees
select x from values (1), (null), (3) t(x) order by x;

-- agrees
select x from values (1), (null), (3) t(x) order by x desc;

-- agrees
select x from values (1D), (double('NaN')), (null) t(x) order by x;

-- agrees
select greatest(1, null), least(null, 2), coalesce(null, 3), if(true, 1, 2), 1 <=> null, nvl(null, 5);

-- refused: there is no GROUP BY ALL
select a, sum(b) from values (1, 2) t(a, b) group by all;

-- refused: * has no EXCEPT there
select * except (b) from values (1, 2) t(a, b);

-- agrees
select a from values (1), (2) t(a) left semi join values (2) u(b) on t.a = u.b;

-- agrees
select a, sum(b) from values (1, 2), (2, 3) t(a, b) group by rollup(a);

-- refused: nobody has proven that my_function means the same there
select my_function(1);
