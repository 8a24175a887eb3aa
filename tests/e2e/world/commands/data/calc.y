%{
/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
int yylex(void);
void yyerror(const char *why) { puts(why); }
%}
%token NUMBER
%left '+'
%left '*'
%%
line: expr { printf("%d\n", $1); };
expr: NUMBER | expr '+' expr { $$ = $1 + $3; } | expr '*' expr { $$ = $1 * $3; }
    | expr expr;
%%
