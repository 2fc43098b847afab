/* One call of one turn, from its request to the end of the turn, as src/core/session/decide and
 * src/node/runner/lane/lane.cc drive it. A crash may happen at any point, an append may have an
 * unknown result, results come early, twice, in conflict and late, and there are a cancel and a
 * steering prompt.
 *
 *   NODES=1  as built: the lock on the data directory lets one process live at a time, each with
 *            its own epoch.
 *   NODES=2  two processes share the store. An append names the newest frame and is refused if the
 *            store has another one; a session with outstanding work has a driver, which alone
 *            writes intents and starts effects; a process that shows no life is declared gone, and
 *            what it wrote later is refused. A process may be frozen at any point and continue.
 *   LOST=1   the store falls back once to an earlier state, as after the promotion of a standby
 *            that lacked its newest appends.
 *   POLICY   the tool's crash policy: RETRY or NEVER.
 *   BUG      breaks one rule, by its number in run.py: spin must find it. 0: none.
 *
 * The fold of a journal replaces its records: index 0 of each array is durable, 1 and 2 are the
 * memory of a node's lane. Sequence numbers are real, because what a request sees (view_seq) is
 * compared with them. The journal's frames are the atomic step `append`. */

#ifndef NODES
#define NODES 1
#endif
#define RETRY 1
#define NEVER 2
#ifndef POLICY
#define POLICY RETRY
#endif
#ifndef BUG
#define BUG 0
#endif
#ifndef FAULTS
#define FAULTS 2        /* crashes and appends with unknown result, in total */
#endif
#ifndef AWAY
#define AWAY 0          /* clients that send nothing, one bit each; others may or may not */
#endif
#ifndef STEERS
#define STEERS 1        /* 1: a prompt may steer the turn while the call waits */
#endif

#ifndef LOST
#define LOST 0
#endif

#define ATTEMPTS_MAX 2  /* of the tool; fewer than in limits.h, but the rule is the same */
#ifndef BATCH_MAX
#define BATCH_MAX 2     /* commands in one append */
#endif

/* phases of the call */
#define NONE 0
#define RUNNING 1
#define RETRY_WAIT 2
#define WAITING 3
#define CLOSED 4
#define READY 5         /* its process did not drive: the driver starts it */

/* outcomes; A and B are submitted payloads */
#define OPEN 0
#define A 1
#define B 2
#define EXPIRED 3
#define CANCELLED 4
#define BY_TOOL 5       /* the tool's own answer, or its final failure: no receipt */
#define TOLD_UNKNOWN 6  /* expired in doubt */

/* answers to a client */
#define NO_ANSWER 0
#define APPLIED 1
#define DUPLICATE 2
#define CONFLICT 3
#define GONE 4
#define UNKNOWN_ID 5
#define STAYS_AWAY 6    /* sends nothing */

/* bodies of a tool's outcome */
#define UNDECIDED 0
#define DONE 1
#define PAUSED 2
#define FAILED 3

/* wake_at */
#define SLEEPS 0
#define TIMER 1
#define OWED 2

/* clients: 0 and 1 submit A (a duplicate), 2 submits B, 3 cancels, 4 steers */
#define CLIENTS 5
#define CANCELLER 3
#define STEERER 4

#define S (NODES + 1 + LOST)
#define STANDBY (NODES + 1)     /* what the store falls back to */
#define EPOCHS (2 * NODES + 2 * FAULTS + 2)

/* the state: disk and memories */
byte head[S], phase[S], outcome[S], attempt[S], tool_epoch[S], tool_since[S], settled_at[S];
byte step[S], try_no[S], view[S], ask_epoch[S], ask_since[S], seen[S], newest[S];
byte shown[S];          /* what the newest committed reply really saw */
bit in_doubt[S], committed[S], finished[S], steered[S], steer_known[S], turn_open[S];
byte wake;              /* the row of the table `wakeups` */

/* The driver in the store and as a lane knows it, and the stamp of the newest frame. A stamp is not
 * used twice. */
byte driver[S], stamp[S], stamps;
bit gone[EPOCHS];       /* by epoch: the others declared it dead */
bit lost, saved;        /* LOST: it fell back; there is something to fall back to */
bit knows_lost[S];      /* the lane has found that out */

/* a node: its lane */
bit alive[S], known[S];
byte sent[S];           /* 1: an append is in progress, 2: it is durable */
bit drove[S];           /* the batch was decided by the driver */
bit frozen[S], beats[S], wrong[S];      /* wrong: it declares a live process dead */
byte was[S];            /* the epoch of a process that died */
byte epoch[S], after[S], batch[S];
byte opened;            /* the store's open count */
byte faults;

/* effects that run on a node, and the outcome in progress */
byte ask_runs[S], m_step[S], m_try[S], m_view[S];
byte tool_runs[S], t_try[S], t_body[S];
bit m_taken[S], t_taken[S];     /* in the batch being written */

/* clients */
byte answer[CLIENTS], draft[CLIENTS], with[CLIENTS];    /* with: the node that has the request */
bit late;               /* the deadline has passed */

/* used by the properties */
byte ran[ATTEMPTS_MAX + FAULTS + 2], told;
bit failed_once;

inline copy(from, to) {
    head[to] = head[from]; phase[to] = phase[from]; outcome[to] = outcome[from];
    attempt[to] = attempt[from]; tool_epoch[to] = tool_epoch[from];
    tool_since[to] = tool_since[from]; settled_at[to] = settled_at[from];
    step[to] = step[from]; try_no[to] = try_no[from]; view[to] = view[from];
    ask_epoch[to] = ask_epoch[from]; ask_since[to] = ask_since[from]; seen[to] = seen[from];
    shown[to] = shown[from];
    newest[to] = newest[from]; in_doubt[to] = in_doubt[from]; committed[to] = committed[from];
    finished[to] = finished[from]; steered[to] = steered[from]; stamp[to] = stamp[from];
    steer_known[to] = steer_known[from]; turn_open[to] = turn_open[from]
}

/* Untrusted memory is not part of the state: fewer states. */
inline wipe(i) {
    head[i] = 0; phase[i] = 0; outcome[i] = 0; attempt[i] = 0; tool_epoch[i] = 0;
    tool_since[i] = 0; settled_at[i] = 0; step[i] = 0; try_no[i] = 0; view[i] = 0;
    ask_epoch[i] = 0; ask_since[i] = 0; seen[i] = 0; shown[i] = 0; newest[i] = 0; in_doubt[i] = 0;
    committed[i] = 0; finished[i] = 0; steered[i] = 0; steer_known[i] = 0; turn_open[i] = 0;
    driver[i] = 0; stamp[i] = 0
}

/* events: emit is one sequence number, the rest is apply.cc */
#define emit(i) head[i] = head[i] + 1
#define is_open(i) (phase[i] != NONE && phase[i] != CLOSED)

inline close_call(i, what) {
    emit(i); phase[i] = CLOSED; outcome[i] = what; in_doubt[i] = 0; tool_since[i] = 0;
    settled_at[i] = head[i]; newest[i] = head[i]
}
inline tool_started(i) {
    emit(i); phase[i] = RUNNING; attempt[i] = attempt[i] + 1; tool_epoch[i] = epoch[i];
    tool_since[i] = head[i]
}
inline model_requested(i, n, t) {
    view[i] = head[i]; emit(i); step[i] = n; try_no[i] = t; ask_epoch[i] = epoch[i];
    ask_since[i] = head[i]; committed[i] = 0; steered[i] = 0; finished[i] = 0
}

/* time.cc: first writes the expiries that are due at the command's time */
inline fall_due(i) {
    if
    :: phase[i] == WAITING && late && in_doubt[i] -> close_call(i, TOLD_UNKNOWN)
    :: phase[i] == WAITING && late && !in_doubt[i] -> close_call(i, EXPIRED)
    :: else
    fi
}

/* Lane::drives, Lane::takes_over, Lane::must_write_driver */
#define other(i) (driver[i] && driver[i] != epoch[i])
#define drives(i) (NODES == 1 || !other(i) || gone[driver[i]] || wrong[i])
#define takes_over(i) (NODES > 1 && other(i) && (gone[driver[i]] || wrong[i]))
#define driver_after(i) ((ask_since[i] || tool_since[i]) -> epoch[i] : 0)
#define must_write_driver(i) (NODES > 1 && drove[i] && driver[i] != driver_after(i))

/* advance.cc: what becomes possible is in the append of what made it possible. A failed attempt
 * runs again when its time has come, not by the command that reported the failure. */
#define may_end(i) (finished[i] && phase[i] == CLOSED && newest[i] <= seen[i])
#define may_ask(i) (newest[i] > seen[i] && (phase[i] == CLOSED || (phase[i] == WAITING && steered[i])))
#define stalled(i) (turn_open[i] && !ask_since[i] && (phase[i] == READY || may_end(i) || may_ask(i)))
inline advance(i, retries) {
    if
    :: drove[i] || BUG == 16 -> advance_driver(i, retries)
    :: else
    fi
}
inline advance_driver(i, retries) {
    if
    :: turn_open[i] && (phase[i] == READY || (phase[i] == RETRY_WAIT && retries)) -> tool_started(i)
    :: else
    fi;
    if
    :: turn_open[i] && finished[i] && phase[i] == CLOSED && newest[i] <= seen[i] && !ask_since[i] ->
        emit(i); turn_open[i] = 0
    :: else
    fi;
    if
    :: turn_open[i] && !ask_since[i] && newest[i] > seen[i] &&
       (phase[i] == CLOSED || (phase[i] == WAITING && steered[i])) ->
        if
        :: committed[i] -> model_requested(i, step[i] + 1, 1)
        :: else -> model_requested(i, step[i], try_no[i] + 1)
        fi
    :: else
    fi
}

/* adopt.cc: settles what a process began that is gone; expired times come after that */
inline adopt(i) {
    if
    :: phase[i] == RUNNING && gone[tool_epoch[i]] && BUG != 7 ->
        if
        :: POLICY == RETRY -> tool_started(i)
        :: else -> emit(i); phase[i] = WAITING; in_doubt[i] = 1; tool_since[i] = 0
        fi
    :: else
    fi;
    if
    :: ask_since[i] && gone[ask_epoch[i]] -> model_requested(i, step[i], try_no[i] + 1)
    :: else
    fi;
    fall_due(i);
    advance(i, 1)
}

/* submit.cc: client `c` submits `what` */
inline submit(i, c, what) {
    if
    :: is_open(i) ->        /* early results too: the tool declared that it accepts them */
        assert(!(phase[i] == WAITING && late));     /* P7: 410 though no timer ran */
        close_call(i, what); draft[c] = APPLIED
    :: !is_open(i) && outcome[i] == what -> draft[c] = DUPLICATE
    :: !is_open(i) && (outcome[i] == A || outcome[i] == B) && outcome[i] != what ->
        draft[c] = CONFLICT
    :: !is_open(i) && outcome[i] >= EXPIRED && outcome[i] != BY_TOOL -> draft[c] = GONE
    :: !is_open(i) && (outcome[i] == BY_TOOL || outcome[i] == OPEN) -> draft[c] = UNKNOWN_ID
    fi
}

inline cancel(i, c) {
    if
    :: is_open(i) -> close_call(i, CANCELLED); draft[c] = APPLIED
    :: !is_open(i) && outcome[i] == CANCELLED -> draft[c] = DUPLICATE
    :: else -> draft[c] = CONFLICT
    fi
}

/* prompt.cc, mode steer: its Idempotency-Key makes a repeat harmless. The model does not cover a
 * turn that ended meanwhile. */
inline steer(i, c) {
    if
    :: turn_open[i] && !steer_known[i] ->
        emit(i); newest[i] = head[i]; steered[i] = 1; steer_known[i] = 1; draft[c] = APPLIED
    :: else -> draft[c] = DUPLICATE
    fi
}

/* tool.cc: the first outcome of any attempt settles the call, later ones are notes */
inline tool_outcome(i) {
    if
    :: (phase[i] == RUNNING || phase[i] == RETRY_WAIT || in_doubt[i] || (BUG == 5 && attempt[i])) ->
        if
        :: t_body[i] == UNDECIDED               /* of a history that is lost: dropped */
        :: t_body[i] == DONE -> close_call(i, BY_TOOL)
        :: t_body[i] == PAUSED -> emit(i); phase[i] = WAITING; in_doubt[i] = 0; tool_since[i] = 0
        :: t_body[i] == FAILED ->
            if
            :: phase[i] == RUNNING && t_try[i] == attempt[i] && attempt[i] < ATTEMPTS_MAX ->
                emit(i); phase[i] = RETRY_WAIT; tool_since[i] = 0
            :: ((phase[i] == RETRY_WAIT && t_try[i] <= attempt[i]) ||
                (phase[i] == RUNNING && t_try[i] < attempt[i])) && BUG != 13 ->
                skip            /* reported before: the answer was lost */
            :: else ->
                /* only the last attempt's failure, or one that the crash policy decides */
                assert(t_try[i] >= ATTEMPTS_MAX || in_doubt[i] || NODES > 1);
                close_call(i, BY_TOOL)
            fi
        fi
    :: else
    fi
}

/* model.cc: only the newest attempt commits */
inline model_reply(i) {
    if
    :: ask_since[i] && m_step[i] == step[i] && (m_try[i] == try_no[i] || BUG == 3) ->
        assert(m_view[i] == view[i]);           /* it saw what is recorded */
        seen[i] = view[i]; shown[i] = m_view[i]; ask_since[i] = 0; committed[i] = 1; emit(i);
        if
        :: BUG == 10 -> seen[i] = head[i]
        :: else
        fi;
        if
        :: step[i] == 1 -> phase[i] = READY     /* its only call; advance starts it */
        :: else -> finished[i] = 1
        fi
    :: else
    fi
}

/* ---- the lane ---- */

inline dies(i) {
    /* at most one earlier life of a process has not been declared gone */
    if
    :: was[i] -> gone[was[i]] = 1
    :: else
    fi;
    alive[i] = 0; was[i] = epoch[i]; epoch[i] = 0; beats[i] = 0; wrong[i] = 0; ask_runs[i] = 0; tool_runs[i] = 0;
    m_step[i] = 0; m_try[i] = 0; m_view[i] = 0; t_try[i] = 0; t_body[i] = 0
}

#define works(i) (alive[i] && !frozen[i])
#define idle(i) (works(i) && !sent[i] && batch[i] < BATCH_MAX)
#define clear(i) after[i] = 0; batch[i] = 0; sent[i] = 0; drove[i] = 0

/* wants_tick and Runner::scan, which reads the durable row. BUG 12: a lane trusts its memory
 * although another node has changed the session. */
#define stale(i) (NODES > 1 && BUG != 12 && known[i] && (head[i] != head[0] || stamp[i] != stamp[0]))
#define elsewhere(i) (driver[0] && driver[0] != epoch[i] && !gone[driver[0]])
#define not_started(i) (ask_since[i] != ask_runs[i] || tool_since[i] != tool_runs[i])
#define due_now(i) ((phase[i] == WAITING && late) || phase[i] == RETRY_WAIT)
#define wants_tick(i) (!known[i] || stale(i) || driver[i] != driver[0] || takes_over(i) || \
    (not_started(i) && (beats[i] || NODES == 1)) || due_now(i))
#define row_is_due(i) ((wake == OWED || (wake == TIMER && (late || phase[0] == RETRY_WAIT)) || \
    (NODES > 1 && driver[0])) && (NODES == 1 || !elsewhere(i)))

inline wake_of(i) {
    if
    :: ask_since[i] || tool_since[i] || stalled(i) -> wake = OWED
    :: !ask_since[i] && !tool_since[i] && !stalled(i) && (phase[i] == WAITING || phase[i] == RETRY_WAIT) ->
        wake = TIMER
    :: else -> wake = SLEEPS
    fi
}

/* Lane::load: reads the session if it is not in memory, and puts Adopt in front */
inline ready_memory(i) {
    if
    :: batch[i] == 0 && (stale(i) || takes_over(i)) -> known[i] = 0
    :: else
    fi;
    if
    :: !known[i] ->
        if      /* what runs was started in a history that is lost: its outcomes do not count */
        :: lost && !knows_lost[i] && BUG != 19 ->
            knows_lost[i] = 1; ask_runs[i] = 0; tool_runs[i] = 0;
            m_step[i] = 0; m_try[i] = 0; m_view[i] = 0; t_try[i] = 0; t_body[i] = 0
        :: else
        fi;
        copy(0, i); driver[i] = driver[0]; known[i] = 1; after[i] = head[i]; drove[i] = drives(i);
        if
        :: drove[i] -> adopt(i)
        :: else
        fi
    :: known[i] && batch[i] == 0 -> after[i] = head[i]; drove[i] = drives(i)
    :: else
    fi;
    batch[i] = batch[i] + 1
}

/* Lane::forget: memory is not trusted; clients get 503 and repeat */
inline unask(i) {
    m_taken[i] = 0; t_taken[i] = 0;
    for (k : 0 .. CLIENTS - 1) {
        if
        :: with[k] == i -> with[k] = 0; draft[k] = NO_ANSWER
        :: else
        fi
    }
    k = 0
}
inline forget(i) { known[i] = 0; wipe(i); clear(i); unask(i) }

/* Lane::dispatch: starts outstanding effects that do not run, stops running effects that are not
 * outstanding. A stopped effect may have finished already: its outcome still arrives. */
#define may_start(i) (NODES == 1 || BUG == 11 || \
    (driver[i] == epoch[i] && (beats[i] || BUG == 18)))
inline dispatch(i) {
    if
    :: ask_since[i] != ask_runs[i] && (may_start(i) || !ask_since[i]) ->
        ask_runs[i] = ask_since[i];
        if
        :: ask_since[i] ->
            assert(lost || ask_epoch[i] == epoch[i]);
            m_step[i] = step[i]; m_try[i] = try_no[i]; m_view[i] = view[i]
        :: else
        fi
    :: else
    fi;
    if
    :: tool_since[i] != tool_runs[i] && (may_start(i) || !tool_since[i]) ->
        tool_runs[i] = tool_since[i];
        if
        :: tool_since[i] ->
            /* durable first */
            assert(lost || (tool_since[i] <= head[0] && attempt[i] <= attempt[0]));
            t_try[i] = attempt[i]; t_body[i] = UNDECIDED;
            ran[attempt[i]] = ran[attempt[i]] + 1;
            /* P4: no attempt runs twice, and after a crash only what the policy allows */
            assert(lost || ran[attempt[i]] == 1);
            assert(lost || POLICY == RETRY || attempt[i] == 1 || failed_once);
            /* under its own intent, which nobody has put in doubt */
            assert(lost || (tool_epoch[i] == epoch[i] && attempt[0] == attempt[i] && !in_doubt[0]))
        :: else
        fi
    :: else
    fi
}

/* P1, P2: every answer about the call is durable */
inline check_answer(c) {
    if
    :: lost
    :: !lost && c < CANCELLER && (draft[c] == APPLIED || draft[c] == DUPLICATE) ->
        assert(outcome[0] == (c == 2 -> B : A))
    :: !lost && c < CANCELLER && draft[c] == CONFLICT -> assert(outcome[0] == (c == 2 -> A : B))
    :: !lost && c < CANCELLER && draft[c] == GONE -> assert(outcome[0] > B && outcome[0] != BY_TOOL)
    :: !lost && c < CANCELLER && draft[c] == UNKNOWN_ID -> assert(outcome[0] == BY_TOOL)
    :: !lost && c == CANCELLER && draft[c] != CONFLICT -> assert(outcome[0] == CANCELLED)
    :: else
    fi
}

/* Lane::release: releases what waited for the append */
inline release(i) {
    for (k : 0 .. CLIENTS - 1) {
        if
        :: with[k] == i ->
            check_answer(k); answer[k] = draft[k]; with[k] = 0; draft[k] = NO_ANSWER
        :: else
        fi
    }
    k = 0;
    if
    :: m_taken[i] -> m_taken[i] = 0; m_step[i] = 0; m_try[i] = 0; m_view[i] = 0
    :: else
    fi;
    if
    :: t_taken[i] -> t_taken[i] = 0; t_try[i] = 0; t_body[i] = 0
    :: else
    fi;
    clear(i);
    dispatch(i)
}

/* Compares what became durable with what was durable before. */
#define steps_done(i) (committed[i] -> step[i] : step[i] - 1)
#define told_by(i) (settled_at[i] && settled_at[i] <= shown[i])
inline check_append(i) {
    assert(!outcome[0] || outcome[i] == outcome[0]);        /* P2: one terminal outcome */
    assert(step[i] <= 3);
    assert(steps_done(i) == steps_done(0) || steps_done(i) == steps_done(0) + 1);
    if                                                      /* P3: consumed by one committed step */
    :: told_by(i) && !told_by(0) -> told = told + 1
    :: !told_by(i) && told_by(0) -> assert(false)
    :: else
    fi
}

/* Writer::commit: succeeds if the newest frame is the one that the append names, if its process is
 * not gone, and if no other process that works is the driver. The stamp of a frame identifies the
 * frames before it. */
#define same_frame(i) (after[i] == head[0] && (stamp[i] == stamp[0] || BUG == 17))
#define fenced(i) (NODES > 1 && gone[epoch[i]] && BUG != 14)
#define may_drive(i) (NODES == 1 || !drove[i] || !elsewhere(i) || BUG == 15)
inline append(i, durable) {
    durable = 0;
    if
    :: (same_frame(i) && !fenced(i) && may_drive(i)) || BUG == 1 ->
        durable = 1;
        assert(stamp[i] == stamp[0] || BUG == 1);       /* no fork */
        if
        :: head[i] != after[i] ->
            check_append(i); stamps = stamps + 1; stamp[i] = stamps
        :: else                                         /* only the driver is written */
        fi;
        copy(i, 0);
        if
        :: drove[i] && NODES > 1 -> driver[i] = driver_after(i); driver[0] = driver[i]
        :: else
        fi;
        if
        :: BUG == 4 && phase[i] == CLOSED && !ask_since[i]
        :: else -> wake_of(i)
        fi
    :: else
    fi
}

proctype Lane(byte i) {
    byte k;
    bit durable;
end:
    do
    /* Lane::decide_batch: a command joins the batch, in memory only */
    :: d_step { idle(i) && answer[0] == NO_ANSWER && !with[0] && attempt[0] ->
        ready_memory(i); with[0] = i; if :: BUG != 6 -> fall_due(i) :: else fi;
        submit(i, 0, A); if :: BUG != 4 -> advance(i, 1) :: else fi }
    :: d_step { idle(i) && answer[1] == NO_ANSWER && !with[1] && attempt[0] ->
        ready_memory(i); with[1] = i; if :: BUG != 6 -> fall_due(i) :: else fi;
        submit(i, 1, A); if :: BUG != 4 -> advance(i, 1) :: else fi }
    :: d_step { idle(i) && answer[2] == NO_ANSWER && !with[2] && attempt[0] ->
        ready_memory(i); with[2] = i; if :: BUG != 6 -> fall_due(i) :: else fi;
        submit(i, 2, B); if :: BUG != 4 -> advance(i, 1) :: else fi }
    :: d_step { idle(i) && answer[CANCELLER] == NO_ANSWER && !with[CANCELLER] && attempt[0] ->
        ready_memory(i); with[CANCELLER] = i; fall_due(i); cancel(i, CANCELLER); advance(i, 1) }
    :: d_step { STEERS && idle(i) && answer[STEERER] == NO_ANSWER && !with[STEERER] && attempt[0] ->
        ready_memory(i); with[STEERER] = i; fall_due(i); steer(i, STEERER); advance(i, 1) }
    :: d_step { idle(i) && m_try[i] && !m_taken[i] ->
        ready_memory(i); m_taken[i] = 1; fall_due(i); model_reply(i); advance(i, 1) }
    :: d_step { idle(i) && t_body[i] != UNDECIDED && !t_taken[i] ->
        ready_memory(i); t_taken[i] = 1; fall_due(i); tool_outcome(i); advance(i, 0) }
    :: d_step { idle(i) && batch[i] == 0 && row_is_due(i) && wants_tick(i) ->
        ready_memory(i); fall_due(i); advance(i, 1) }

    /* the tool has an outcome, and reports the same one if asked again */
    :: atomic { works(i) && t_try[i] && t_body[i] == UNDECIDED ->
        if
        :: t_body[i] = DONE
        :: t_body[i] = PAUSED
        :: NODES == 1 && t_body[i] == UNDECIDED -> t_body[i] = FAILED; failed_once = 1
        fi }

    /* the batch is complete: nothing to write, or an append starts */
    :: d_step { works(i) && !sent[i] && batch[i] && head[i] == after[i] && !must_write_driver(i) ->
        release(i) }
    :: d_step { works(i) && !sent[i] && batch[i] && (head[i] != after[i] || must_write_driver(i)) ->
        sent[i] = 1;
        if
        :: BUG == 2 ->
            for (k : 0 .. CLIENTS - 1) {
                if
                :: with[k] == i ->
                    check_answer(k); answer[k] = draft[k]; with[k] = 0; draft[k] = NO_ANSWER
                :: else
                fi
            }
            k = 0
        :: BUG == 9 -> dispatch(i)
        :: else
        fi }
    /* It succeeds, or the lane must decide again. Between the store and the lane a process may be
     * frozen. */
    :: d_step { works(i) && sent[i] == 1 ->
        append(i, durable);
        if
        :: durable && NODES == 1 -> release(i)
        :: durable && NODES > 1 -> sent[i] = 2
        :: !durable -> wrong[i] = 0; forget(i)
        fi;
        durable = 0 }
    :: d_step { works(i) && sent[i] == 2 -> release(i) }
    /* its result is unknown: durable or not; the lane gets an error, or is dead */
    :: d_step { works(i) && sent[i] == 1 && faults < FAULTS ->
        faults = faults + 1; append(i, durable); durable = 0; forget(i) }
    :: d_step { works(i) && sent[i] == 1 && faults < FAULTS ->
        faults = faults + 1;
        if
        :: BUG == 8 -> unask(i); clear(i)           /* memory is kept */
        :: else -> forget(i)
        fi }
    :: d_step { works(i) && sent[i] == 1 && faults < FAULTS ->
        faults = faults + 1; append(i, durable); durable = 0; forget(i); dies(i) }

    /* SIGKILL at any other point: memory, running effects and their outcomes are lost */
    :: d_step { works(i) && faults < FAULTS -> faults = faults + 1; forget(i); dies(i) }
    /* the lock on the data directory: the process before it is gone */
    :: d_step { !alive[i] ->
        if
        :: NODES == 1 -> gone[was[i]] = 1
        :: else
        fi;
        opened = opened + 1; epoch[i] = opened; alive[i] = 1; beats[i] = 1 }

    /* SIGSTOP and SIGCONT; a heartbeat; a wrong belief about the others */
    :: d_step { NODES > 1 && works(i) && faults < FAULTS ->
        faults = faults + 1; frozen[i] = 1; beats[i] = 0 }
    :: d_step { frozen[i] -> frozen[i] = 0 }
    :: d_step { works(i) && !beats[i] && !fenced(i) -> beats[i] = 1 }
    :: d_step { NODES > 1 && works(i) && !wrong[i] && batch[i] == 0 && elsewhere(i) &&
        faults < FAULTS -> faults = faults + 1; wrong[i] = 1 }
    /* fenced: it forgets its lanes and takes part under a new epoch; what runs continues */
    :: d_step { works(i) && fenced(i) && sent[i] != 1 ->
        forget(i); opened = opened + 1; epoch[i] = opened; beats[i] = 1; wrong[i] = 0 }
    od
}


/* The deadline may pass at any time. */
active proctype Time() { late = 1 }

/* A process that shows no life for long is declared gone. */
proctype Watch(byte j) {
end:
    do
    :: d_step { was[j] && !gone[was[j]] -> gone[was[j]] = 1 }
    :: d_step { alive[j] && !beats[j] && !gone[epoch[j]] -> gone[epoch[j]] = 1 }
    od
}

/* The store falls back to an earlier state, once. */
#if LOST
active proctype Standby() {
end:
    do
    :: d_step { !saved && head[0] -> copy(0, STANDBY); driver[STANDBY] = driver[0]; saved = 1 }
    :: d_step { saved && !lost ->
        copy(STANDBY, 0); driver[0] = driver[STANDBY]; wake_of(0); lost = 1;
        told = (told_by(0) -> 1 : 0) }
    od
}
#endif

/* No step is possible: every client has its answer, and nothing is outstanding. Then the turn has
 * ended (P5), and one committed step has consumed the outcome of the call (P3). */
active proctype Rest() {
end:
    timeout -> assert(!turn_open[0] && phase[0] == CLOSED && told == 1 && wake == SLEEPS && !driver[0])
}

/* The model is being asked for the first step. */
init {
    byte c;
    atomic {
        head[0] = 2; view[0] = 1; newest[0] = 1; step[0] = 1; try_no[0] = 1; ask_since[0] = 2;
        ask_epoch[0] = 1; turn_open[0] = 1; wake = OWED;
        driver[0] = (NODES > 1 -> 1 : 0);
        opened = NODES;
        for (c : 1 .. NODES) {
            epoch[c] = c; alive[c] = 1; beats[c] = 1; run Lane(c);
            if
            :: NODES > 1 -> run Watch(c)
            :: else
            fi
        }
        for (c : 0 .. CLIENTS - 1) {
            if
            :: !((AWAY >> c) & 1)
            :: answer[c] = STAYS_AWAY
            fi
        }
        c = 0
    }
}
