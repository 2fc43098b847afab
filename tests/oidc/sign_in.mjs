// Signs a person in with the provider, in Chromium: node sign_in.mjs PROGRAM ADDRESS LOGIN TEXT
// Prints where that led, what the page shows, and which cookies a script reads, as JSON.
import { chromium } from '../../web/node_modules/@playwright/test/index.mjs';

const [executablePath, address, login, text] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage();
  await page.goto(address);
  await page.locator('a.yes').click();
  await page.locator('[name=login]').fill(login);
  await page.locator('[name=password]').fill('any');
  await page.locator('form [type=submit]').first().click();
  await page.locator('[name=prompt][value=consent]').waitFor({ state: 'attached' });
  await page.locator('form [type=submit]').first().click();
  await page.getByText(text).first().waitFor();
  console.log(
    JSON.stringify({
      path: new URL(page.url()).pathname,
      text: await page.locator('body').innerText(),
      cookies: await page.evaluate(() => document.cookie),
    }),
  );
} finally {
  await browser.close();
}
