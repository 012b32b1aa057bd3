#ifndef C_LOOKUPS_H
#define C_LOOKUPS_H

/// What has been asked for the names of a group, which are `NAME.GROUP.lookups.test`.
struct lookups {
    /// How many look-ups have been begun.
    int all;
    /// How many are going on.
    int current;
    /// How many have been going on at the same time.
    int most;
};

/// Groups have numbers below this.
#define LOOKUPS_GROUPS 10

struct lookups lookups_of(int group);
/// Lets the look-ups of a group end, which stand until then. Each name is that of 127.0.0.1.
void lookups_answer(int group);
/// Has the next look-ups of a group that end fail for now (EAI_AGAIN).
void lookups_fail(int group, int count);

#endif
