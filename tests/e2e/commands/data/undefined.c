// SPDX-License-Identifier: Apache-2.0
int missing(void);
int main(void) { return missing(); }
