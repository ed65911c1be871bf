// What everything else is measured against.
int main() {}
