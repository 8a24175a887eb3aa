// SPDX-License-Identifier: Apache-2.0
public class Broken {
    int number = "a string";
    Missing missing;
}
