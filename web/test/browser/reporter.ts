// One line of JSON for each test that has ended, for tests/browser.py.
import { writeSync } from 'node:fs';
import type { Reporter, TestCase, TestError, TestResult } from '@playwright/test/reporter';

const text = (errors: TestError[]): string =>
  errors
    .map((one) => [one.stack ?? one.message ?? one.value ?? '', one.snippet ?? ''].join('\n'))
    .join('\n')
    // eslint-disable-next-line no-control-regex -- the colours of a terminal
    .replace(/\u001b\[[0-9;]*m/g, '');

export default class Lines implements Reporter {
  private say(value: object): void {
    writeSync(1, `${JSON.stringify(value)}\n`);
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    const why = test.annotations.find((one) => one.type === 'skip')?.description ?? '';
    this.say({
      title: test.title,
      status: result.status,
      seconds: result.duration / 1000,
      error: text(result.errors),
      why,
    });
  }

  onStdOut(chunk: string | Buffer): void {
    process.stderr.write(chunk);
  }

  onStdErr(chunk: string | Buffer): void {
    process.stderr.write(chunk);
  }

  onError(error: TestError): void {
    this.say({ error: text([error]) });
  }

  printsToStdio(): boolean {
    return true;
  }
}
