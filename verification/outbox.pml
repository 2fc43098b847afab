/* Outbox messages from one session to another (ARCHITECTURE.md, "Where later parts attach"). Each
 * message has the incarnation of its sender and a number without gaps for the pair. It is a row,
 * written by the append that caused it, until the receiver has acknowledged it. The receiver
 * stores, for each sender, an incarnation and the last number that it accepted: it accepts the next
 * one, acknowledges older ones, and does not answer later ones. A refusal consumes its number too.
 * A pump on any node sends repeatedly and keeps no state, so its crashes need no steps of their
 * own. The network loses, duplicates and reorders.
 *
 * What must hold: every message is accepted once and in order, and none waits forever (no cycle
 * without progress).
 *
 *   RESTORE=1  the sender is restored from a backup: acknowledged rows are back, and it does not
 *              know what it sent later. It has a new incarnation. Rows of the backup keep theirs
 *              and are sent first, so that the receiver knows which of them it accepted.
 *   RESTORE=2  the receiver is restored from a backup: it does not know what it accepted later, and
 *              the sender has no rows of acknowledged messages. So each message says from which
 *              number on its sender still has rows (`base`); the receiver does not wait for what is
 *              before it.
 *   BUG        breaks one rule, by its number in run.py: spin must find it. 0: none. */

#ifndef RESTORE
#define RESTORE 0
#endif
#ifndef BUG
#define BUG 0
#endif
#define POSTS 3         /* numbers that the sender gives in one incarnation */
#define DISTURBANCES 3  /* of the network */

/* The sender, durable. The rows of an incarnation are the numbers from oldest up to next. */
byte incarnation = 1;
byte oldest[3] = 1, next[3] = 1;
byte saved_oldest, saved_next;  /* its backup; 0: none yet */
bit restored;

/* the receiver, durable */
byte known, last;
bit saved;
byte saved_known, saved_last;

/* In transit: incarnation, number, base, and the life that wrote it (for the properties only). */
chan net = [2] of { byte, byte, byte, byte };
chan back = [2] of { byte, byte };

/* Used by the properties, by life of the sender (before and after its restore) and number: what the
 * receiver accepted since its own restore, and what it ever accepted. */
#define place(life, n) ((life) * 4 + (n))
#define PLACES 12
byte taken[PLACES], ever[PLACES];
#define life_of(i, n) ((restored && (i == 2 || (RESTORE == 1 && n >= saved_next))) -> 2 : 1)

inline take(n, base, life) {
    taken[place(life, n)] = taken[place(life, n)] + 1; ever[place(life, n)] = 1;
    assert(taken[place(life, n)] == 1);                                             /* once */
    assert(n == 1 || n == base || ever[place(1, n - 1)] || ever[place(2, n - 1)])   /* in order */
}

active proctype Sender() {
    byte i, n;
    bit moved;
end:
    do
    /* an append that causes a post: the row and its number in one */
    :: d_step { next[incarnation] <= POSTS -> next[incarnation] = next[incarnation] + 1 }

    /* the pump, when no message of the pair is in transit (in reality: a time-out): sends the
     * oldest row, or it and the next */
    :: d_step { empty(net) && empty(back) && oldest[1] < next[1] && (BUG != 2 || !restored) ->
        n = (BUG == 1 && oldest[1] + 1 < next[1] -> oldest[1] + 1 : oldest[1]);
        net ! 1, n, oldest[1], life_of(1, n); n = 0 }
    :: d_step { empty(net) && empty(back) && oldest[1] + 1 < next[1] && BUG != 1 && BUG != 2 ->
        n = oldest[1]; net ! 1, n, n, life_of(1, n); net ! 1, n + 1, n, life_of(1, n + 1); n = 0 }
    :: d_step { empty(net) && empty(back) && oldest[2] < next[2] &&
                (oldest[1] == next[1] || BUG == 2) ->       /* older rows are sent first */
        net ! 2, oldest[2], oldest[2], 2 }
    :: d_step { BUG == 2 && restored && empty(net) && empty(back) && oldest[1] < next[1] &&
                oldest[2] == next[2] -> net ! 1, oldest[1], oldest[1], 1 }

    /* an acknowledgement removes the row */
    :: d_step { nempty(back) -> back ? i, n;
        if
        :: n >= oldest[i] && n < next[i] ->
            assert(ever[place(life_of(i, n), n)]);          /* only accepted ones */
            oldest[i] = n + 1; moved = 1
        :: else
        fi; i = 0; n = 0 }
    :: moved ->
progress:
        moved = 0

    :: d_step { RESTORE == 1 && !saved_next -> saved_oldest = oldest[1]; saved_next = next[1] }
    :: d_step { RESTORE == 1 && saved_next && !restored ->
        restored = 1; oldest[1] = saved_oldest; next[1] = saved_next;
        incarnation = (BUG == 3 -> 1 : 2) }
    od
}

#define gap (base > 1 && n == base && BUG != 6)     /* rows before it no longer exist */
#define is_next (n == last + 1 || BUG == 4 || (BUG == 5 && n > last))

active proctype Receiver() {
    byte i, n, base, life;
end:
    do
    :: d_step { nfull(back) && nempty(net) -> net ? i, n, base, life;
        if
        :: i < known -> back ! i, n             /* a later incarnation came after all of it */
        :: i > known && (n == 1 || gap) -> known = i; last = n; take(n, base, life); back ! i, n
        :: i == known && n <= last && BUG != 4 -> back ! i, n
        :: i == known && (is_next || (gap && n > last)) ->
            last = n; take(n, base, life); back ! i, n
        :: else                                 /* not yet */
        fi;
        i = 0; n = 0; base = 0; life = 0 }

    :: d_step { RESTORE == 2 && !saved -> saved = 1; saved_known = known; saved_last = last }
    :: d_step { RESTORE == 2 && saved && !restored ->
        restored = 1; known = saved_known; last = saved_last;
        for (i : 0 .. PLACES - 1) { taken[i] = (i > 4 && i <= 4 + saved_last -> taken[i] : 0) }
        i = 0 }
    od
}

active proctype Network() {
    byte i, n, base, life, left = DISTURBANCES;
end:
    do
    :: d_step { left && nempty(net) -> net ? i, n, base, life; left = left - 1;          /* lost */
        i = 0; n = 0; base = 0; life = 0 }
    :: d_step { left && len(net) == 1 -> net ? <i, n, base, life>;        /* duplicated */
        left = left - 1; net ! i, n, base, life; i = 0; n = 0; base = 0; life = 0 }
    :: d_step { left && len(net) == 2 -> net ? i, n, base, life;          /* reordered */
        left = left - 1; net ! i, n, base, life; i = 0; n = 0; base = 0; life = 0 }
    :: d_step { left && nempty(back) -> back ? i, n; left = left - 1; i = 0; n = 0 }
    :: d_step { left && len(back) == 1 -> back ? <i, n>;
        left = left - 1; back ! i, n; i = 0; n = 0 }
    od
}
