// What the form of a mail says, and what it is to the server.
import { namesIn, sizeError } from './limits';

export interface MailForm {
  /** Aliases and ids, as typed. */
  to: string;
  /** Every session of the project that has an alias. */
  all: boolean;
  text: string;
  /** Which receivers wake: by the rule of their project, those that wait for a call too, none. */
  wakes: 'default' | 'waiting' | 'none';
  /** Milliseconds, as the option says; '': it does not expire. */
  ttl: string;
  /** In the name of this session. */
  from: string;
}
export const EMPTY: MailForm = {
  to: '',
  all: false,
  text: '',
  wakes: 'default',
  ttl: '',
  from: '',
};
export const NAMES_MOST = 1000;
const NAME_MOST = 129;
const TEXT_MOST = 64;
const RESUME = { default: {}, waiting: { resume: true }, none: { resume: false } };

export interface MailErrors {
  to: string;
  text: string;
  from: string;
}

/** What is wrong with each field; '': nothing. */
export function errorsOf(form: MailForm): MailErrors {
  const names = namesIn(form.to);
  const long = names.find((one) => one.length > NAME_MOST);
  return {
    to: form.all
      ? ''
      : names.length === 0
        ? 'must name a session'
        : names.length > NAMES_MOST
          ? `must name at most ${NAMES_MOST.toLocaleString('en')} sessions`
          : long !== undefined
            ? `has a name of more than ${NAME_MOST} characters`
            : '',
    text: form.text.trim() === '' ? 'must not be empty' : sizeError(form.text, TEXT_MOST),
    from: namesIn(form.from).length > 1 ? 'must be one session' : '',
  };
}

/** The body of `POST /api/mail`. */
export function bodyOf(form: MailForm): Record<string, unknown> {
  const names = namesIn(form.to);
  return {
    text: form.text,
    ...(form.all ? {} : { to: names.length === 1 ? names[0] : names }),
    ...RESUME[form.wakes],
    ...(form.ttl ? { ttl: Number(form.ttl) } : {}),
    ...(form.from.trim() ? { from: form.from.trim() } : {}),
  };
}

interface Receiver {
  to: string;
  status: string;
  reason: string | null;
}

/** What became of a mail, for a person, and the receivers that do not get it. */
export function outcomeOf(receivers: readonly Receiver[]): { said: string; failed: Receiver[] } {
  const failed = receivers.filter((one) => one.status === 'failed');
  const got = receivers.length - failed.length;
  const sessions = (number: number): string =>
    `${number.toLocaleString('en')} ${number === 1 ? 'session' : 'sessions'}`;
  const quarantined = receivers.filter((one) => one.status === 'quarantined').length;
  const said =
    failed.length > 0
      ? `Sent to ${got} of ${sessions(receivers.length)}.`
      : `Sent to ${sessions(got)}.`;
  return { said: quarantined > 0 ? `${said} ${quarantined} quarantined.` : said, failed };
}
