/* SPDX-License-Identifier: Apache-2.0 */

/* Prints its arguments, "--" and its environment, each ended by a NUL. */

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv, char **envp)
{
    for (int i = 0; i < argc; i++)
        fwrite(argv[i], 1, strlen(argv[i]) + 1, stdout);
    fwrite("--", 1, 3, stdout);
    for (; *envp; envp++)
        fwrite(*envp, 1, strlen(*envp) + 1, stdout);
    return 0;
}
