// The cost of checking shapes alone.
#include <dimwise/shape.hpp>
int main() {}
