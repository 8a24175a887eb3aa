dnl SPDX-License-Identifier: Apache-2.0
define(`fib', `ifelse(eval($1 < 2), 1, $1, `eval(fib(decr($1)) + fib(decr(decr($1))))')')dnl
fib(15) esyscmd(`sort words')
include(`nowhere')
