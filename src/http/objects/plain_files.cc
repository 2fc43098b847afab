#include "http/objects/plain_files.h"

#include "base/sha256.h"
#include "base/text/text.h"

namespace dormouse::http {

namespace {

// The colours and sizes of the web page (web/src/tokens.css). Buttons are at least 44 px high, and
// far enough apart for a thumb.
constexpr std::string_view style =
    ":root{color-scheme:light dark;--bg:#f6f6f8;--surface:#fff;--sunken:#f0f0f4;--text:#1a1b22;"
    "--text-2:#4e505b;--text-3:#666874;--field:#878995;--line:#e4e4ea;--focus:#1f62d8}"
    "@media(prefers-color-scheme:dark){:root{--bg:#0e0f13;--surface:#15161b;--sunken:#101116;"
    "--text:#ececf2;--text-2:#aeb0bc;--text-3:#8e909d;--field:#717482;--line:#272931;"
    "--focus:#7fb0ff}}"
    "body{font:.9375rem/1.5 system-ui,sans-serif;margin:0;padding:1rem;overflow-wrap:anywhere;"
    "background:var(--bg);color:var(--text)}"
    "main{max-width:40rem;margin:auto;box-sizing:border-box;padding:1rem 1.25rem;"
    "background:var(--surface);border:1px solid var(--line);border-radius:10px}"
    "a{color:inherit}:focus-visible{outline:2px solid var(--focus);outline-offset:2px}"
    "h1{font-size:1.25rem;font-weight:620;line-height:1.3;white-space:pre-line;margin:.5rem 0 1rem}"
    "h2{font-size:1rem;font-weight:620;margin-top:2rem}"
    ".said{white-space:pre-line}.dim{color:var(--text-3)}"
    ".md ul{list-style:disc}.md ul,.md ol{padding-left:1.5rem}.md li{border:0;padding:0}"
    "del,ins{text-decoration:none;display:block}ins{font-weight:bold}"
    "nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center;color:var(--text-2)}"
    "nav a,li a{display:inline-block;min-height:44px;line-height:44px}"
    "summary{min-height:44px;line-height:44px;cursor:pointer;color:var(--text-2)}"
    "li a{line-height:1.5;padding:.6rem 0;box-sizing:border-box;font-weight:550}"
    "ul{list-style:none;padding:0}li{border-top:1px solid var(--line);padding:.25rem 0}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);font-size:13px;"
    "background:var(--sunken);border-radius:8px;padding:.5rem .75rem;margin:.25rem 0}"
    "dl{display:grid;grid-template-columns:minmax(5rem,auto) 1fr;gap:.4rem 1rem}"
    "dt{color:var(--text-2)}dd{margin:0;min-width:0}"
    "dd dl{margin:0;padding:.5rem .75rem;border:1px solid var(--text);border-radius:8px;"
    "font:13px/1.5 ui-monospace,monospace}"
    "textarea,input[type=text],input[type=email]{width:100%;font:inherit;font-size:1rem;box-sizing:"
    "border-box;"
    "padding:.5rem;color:inherit;background:var(--surface);border:1px solid var(--field);"
    "border-radius:8px}"
    "input[type=text],input[type=email]{min-height:44px}"
    "fieldset{border:1px solid var(--line);border-radius:8px;margin:1rem 0}"
    // The style of the web page is loaded too, where there is one.
    ".pick{display:block;padding:.65rem 0;font:inherit}"
    ".pick input{appearance:auto;display:inline-block;width:1.25rem;height:1.25rem;"
    "min-height:0;margin:0 .5rem 0 0;vertical-align:-.25rem}"
    "dl{margin:1rem 0}label{font-size:.875rem}"
    "button{font:inherit;font-weight:550;min-height:44px;padding:.5rem 1.5rem;border-radius:8px;"
    "border:1px solid var(--field);background:var(--surface);color:inherit;cursor:pointer}"
    "a.btn{display:flex;align-items:center;justify-content:center;font:inherit;"
    "font-weight:550;box-sizing:border-box;min-height:44px;padding:.5rem 1.5rem;"
    "border:1px solid var(--field);border-radius:8px;text-decoration:none}"
    "button.yes,a.yes{background:var(--text);border-color:var(--text);color:var(--surface)}"
    "a.yes:not(.btn){display:inline-block;font-weight:550;padding:.65rem 1.5rem;border-radius:8px;"
    "text-decoration:none}"
    ".actions{display:flex;flex-wrap:wrap;gap:1rem 2rem;position:sticky;bottom:0;"
    "background:var(--surface);padding:.75rem 0}"
    // Approve… is at the right, where the confirmation has Back.
    ".two{display:grid;grid-template-columns:1fr 2fr;gap:.5rem}.two .btn:only-child{grid-column:2}"
    ".run{width:100%}"
    "@media(max-width:30rem){body{padding:0}main{border:0;border-radius:0;min-height:100vh}"
    "dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.6rem}}";

constexpr std::string_view script = R"js(
const at = id => document.getElementById(id);
const say = text => { at('said').textContent = text };
let code = location.hash.slice(1);
const next = at('form').elements.next.value;
history.replaceState(null, '', location.pathname + location.search);
at('paste').hidden = code !== '';
const ask = async (path, body) => fetch(path, {method: 'POST', body: JSON.stringify(body),
  headers: {'Content-Type': 'application/json'}});
const failed = said => { say(said.detail); code = ''; at('paste').hidden = false };
let asked = '';
const about = async () => {
  const reply = await ask('/sign-in/link', {code});
  const said = await reply.json();
  if (!reply.ok) return failed(said);
  asked = code;
  at('in').textContent = 'Sign in as ' + said.name;
  say((said.by ? said.by + ' made this link for ' : 'This link is for ') + said.name + ', role ' +
    said.role + ', ' + (said.projects ? 'projects ' + said.projects.join(', ') : 'all projects') +
    '. It works until ' + new Date(said.expires).toLocaleString() + '.');
};
at('form').addEventListener('submit', async event => {
  event.preventDefault();
  code = code || at('link').value.trim().split('#').pop();
  if (asked !== code) return about();
  const reply = await ask('/sign-in', {code, next});
  const said = await reply.json();
  if (reply.ok) location.replace(said.next);
  else failed(said);
});
if (code) about();
)js";

std::string path_of(std::string_view name, std::string_view bytes, std::string_view ending) {
    constexpr std::size_t digits = 12;
    return "/assets/" + std::string(name) + "-" + hex(sha256(bytes)).substr(0, digits) +
           std::string(ending);
}

std::string style_path() { return path_of("plain", style, ".css"); }

}  // namespace

std::vector<PlainFile> plain_files() {
    return {{style_path(), "text/css; charset=utf-8", style},
            {sign_in_script_path(), "text/javascript; charset=utf-8", script}};
}

std::string plain_style_link() { return "<link rel=\"stylesheet\" href=\"" + style_path() + "\">"; }

std::string sign_in_script_path() { return path_of("sign-in", script, ".js"); }

}  // namespace dormouse::http
