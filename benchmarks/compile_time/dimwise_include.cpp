// The cost of the whole library.
#include <dimwise/dimwise.hpp>
int main() {}
