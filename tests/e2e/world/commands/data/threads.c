// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *square(void *number)
{
    *(long *)number *= *(long *)number;
    return number;
}

int main(void)
{
    pthread_t threads[8];
    long *numbers = calloc(8, sizeof *numbers); /* a leak for valgrind */
    long sum = 0;

    if (!fork())
        _exit(3);
    wait(NULL);
    for (int i = 0; i < 8; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, square, &numbers[i]);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        sum += numbers[i];
    }
    numbers = NULL;
    return printf("%ld\n", sum) < 0;
}
