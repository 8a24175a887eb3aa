-- SPDX-License-Identifier: Apache-2.0
create table birds (id integer primary key, name text unique, legs int check (legs = 2));
insert into birds (name, legs) values ('heron', 2), ('wren', 2), ('crake', 2);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)
select count(*), sum(i * i) from n;
select group_concat(name) from (select name from birds order by name);
insert into birds (name, legs) values ('horse', 4);
