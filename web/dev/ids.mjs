// The names of what the fake server knows.
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const id = (kind, name) => `${kind}_AAAAAAEX${name.padEnd(14, 'x')}`;

export const ids = {
  ship: id('ses', 'ship'),
  asleep: id('ses', 'images'),
  ledger: id('ses', 'ledger'),
  review: id('ses', 'review'),
  ticket: id('ses', 'ticket'),
  replica: id('ses', 'replica'),
  orders: id('ses', 'orders'),
  preview: id('ses', 'preview'),
  deploy: id('pnd', 'deploy'),
  refund: id('pnd', 'refund'),
  doubt: id('pnd', 'doubt'),
  cut: id('pnd', 'cut'),
  question: id('pnd', 'question'),
  claimed: id('pnd', 'claimed'),
  job: id('pnd', 'job'),
  late: id('pnd', 'late'),
};
