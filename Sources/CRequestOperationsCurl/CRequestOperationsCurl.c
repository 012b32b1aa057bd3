#include "CRequestOperationsCurl.h"
