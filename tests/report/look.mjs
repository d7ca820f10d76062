// What only a browser can tell of report pages: whether axe-core finds a violation, whether anything is asked of
// another place or said on the console, and whether something is wider than the screen; with pictures to look at.
//
//     npm install --no-save puppeteer-core axe-core
//     node tests/report/look.mjs PICTURES examples/*/report.html
//
// takes Debian's /usr/bin/chromium, or the one that CHROMIUM names, and ends with 1 where it finds something.

import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const here = createRequire(pathToFileURL(resolve("package.json")));
const puppeteer = here("puppeteer-core");
const SCREENS = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844, isMobile: true } };

const [folder, ...pages] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
let found = 0;
const complain = (text) => {
  found += 1;
  console.log(text);
};

for (const page of pages) {
  const name = basename(dirname(resolve(page)));
  const url = pathToFileURL(resolve(page)).href;
  for (const [screen, size] of Object.entries(SCREENS)) {
    for (const colours of ["light", "dark"]) {
      const what = `${name}, ${screen}, ${colours}`;
      const tab = await browser.newPage();
      tab.on("console", (message) => complain(`${what}: console: ${message.text()}`));
      tab.on("pageerror", (error) => complain(`${what}: ${error}`));
      tab.on("request", (request) => request.url() === url || complain(`${what}: request: ${request.url()}`));
      await tab.setBypassCSP(true); // of axe-core alone: the page's own policy allows no script
      await tab.setViewport(size);
      await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: colours }]);
      await tab.goto(url);
      await tab.screenshot({ path: `${folder}/${name}-${screen}-${colours}.png`, fullPage: true });
      const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) complain(`${what}: ${wide} px wider than the screen`);
      await tab.addScriptTag({ path: here.resolve("axe-core/axe.min.js") });
      const { violations, passes } = await tab.evaluate(() => globalThis.axe.run());
      for (const rule of violations) complain(`${what}: ${rule.id}: ${rule.help}: ${rule.nodes[0].html.slice(0, 200)}`);
      console.log(`${what}: ${passes.length} rules of axe-core pass, ${violations.length} do not`);
      if (screen === "desktop" && colours === "light") await tab.pdf({ path: `${folder}/${name}.pdf`, preferCSSPageSize: true });
      await tab.close();
    }
  }
}
await browser.close();
process.exit(found ? 1 : 0);
