#include "CLimit.h"

#if defined(__GLIBC__)
#include <malloc.h>

void climit_trim(void) {
    malloc_trim(0);
}
#else
void climit_trim(void) {}
#endif
