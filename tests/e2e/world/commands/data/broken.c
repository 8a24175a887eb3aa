// SPDX-License-Identifier: Apache-2.0
int main(void)
{
    int number = "a string";
    return nothing(number;
}
