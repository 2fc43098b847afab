#include "http/objects/plain_files.h"

#include "base/crypto/sha256.h"
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
    "dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.6rem}}"
    // The small pages: one card in the middle (card_page.h).
    ".small{display:grid;place-items:center;box-sizing:border-box;min-height:100vh;"
    "padding:1.5rem 1rem}"
    ".small main{width:min(25rem,100%);padding:0;border:0;background:none;min-height:0}"
    ".small header{text-align:center;margin-bottom:1.4rem}"
    ".small h1{font-size:1.375rem;letter-spacing:-.012em;text-wrap:balance;margin:.75rem 0 .5rem}"
    ".small header p{margin:0;color:var(--text-2)}"
    ".mark{width:46px;height:46px}.face{fill:var(--bg);stroke:var(--bg);stroke-linejoin:round}"
    ".face path:first-child{fill:none;stroke-width:1.5;stroke-linecap:round}"
    ".face path:last-child{stroke-width:.8}"
    ".small .card{padding:1.375rem;background:var(--surface);border:1px solid var(--line);"
    "border-radius:14px;box-shadow:0 1px 2px rgb(20 20 40/.06)}"
    ".card p{margin:.75rem 0}.card>:first-child,.card>:first-child>:first-child{margin-top:0}"
    ".card>:last-child,.card>:last-child>:last-child{margin-bottom:0}"
    ".card form>:last-child{margin-bottom:0}.facts{margin:0 0 "
    "1.25rem}.facts[hidden]{display:none}.facts b{font-weight:600}"
    ".facts li{display:grid;grid-template-columns:18px 1fr;gap:.75rem;border:0;padding:0;"
    "margin-bottom:.6rem}"
    ".facts svg{width:18px;height:18px;margin-top:.15rem;fill:none;stroke:var(--text-3);"
    "stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}"
    ".small label{font-weight:550}.small input{min-height:46px;border-radius:11px;"
    "margin-top:.35rem;padding:.5rem .75rem;font-weight:400}#paste "
    "p{margin-top:0}::placeholder{color:var(--text-3);opacity:1}"
    ".small button,.small a.btn{width:100%;min-height:46px;border-radius:11px;padding:.4rem 1rem}"
    ".or{display:flex;align-items:center;gap:.75rem;color:var(--text-3);font-size:.75rem}"
    ".or:before,.or:after{content:\"\";flex:1;height:1px;background:var(--line)}"
    ".known .other{display:none}"
    ".note{margin:1.1rem 0 "
    "0;text-align:center;text-wrap:balance;font-size:.8125rem;color:var(--text-2)}"
    ".small details{margin-top:.5rem;font-size:.8125rem}.small summary{text-align:center}";

constexpr std::string_view script = R"js(
const at = id => document.getElementById(id);
const put = (id, ...parts) => at(id).replaceChildren(...parts.map((part, index) => {
  if (index % 2 === 0) return part;
  const bold = document.createElement('b');
  bold.textContent = part;
  return bold;
}));
const when = ms => new Date(ms).toLocaleString([], {dateStyle: 'medium', timeStyle: 'short'});
const note = at('note').textContent;
let code = location.hash.slice(1);
let asked = '';
const next = at('form').elements.next.value;
history.replaceState(null, '', location.pathname + location.search);
const show = (title, about, known) => {
  at('title').textContent = document.title = title;
  at('said').textContent = about;
  at('in').textContent = known ? title : 'Continue';
  at('facts').hidden = !known;
  at('paste').hidden = known || code !== '';
  at('link').required = !at('paste').hidden;
  at('note').textContent = note;
  document.body.classList.toggle('known', known);
};
const failed = (status, detail) => {
  code = asked = '';
  show(status === 401 ? 'This link no longer works' : 'Sign in to Dormouse', detail, false);
};
const ask = async (path, body) => {
  try {
    const reply = await fetch(path, {method: 'POST', body: JSON.stringify(body),
      headers: {'Content-Type': 'application/json'}});
    const said = await reply.json();
    if (reply.ok) return said;
    failed(reply.status, said.detail);
  } catch {
    failed(0, 'The server did not answer. Paste the link, and try again.');
  }
  return null;
};
const projects = list => !list ? 'all projects' :
  (list.length === 1 ? 'the project ' : 'the projects ') + list.join(', ');
const about = async () => {
  const said = await ask('/sign-in/link', {code});
  if (!said) return;
  asked = code;
  show('Sign in as ' + said.name, '', true);
  if (said.by) put('by', '', said.by, ' made this link for you, ' + when(said.created) + '.');
  else put('by', 'This link is for ', said.name, '.');
  put('can', 'You can ', at('facts').dataset[said.role], ' in ', projects(said.projects), '.');
  at('note').textContent = 'The link works once, until ' + when(said.expires) +
    '. Not you? Close this page; nothing happens.';
};
at('form').addEventListener('submit', async event => {
  event.preventDefault();
  code = code || at('link').value.trim().split('#').pop();
  if (asked !== code) return about();
  const said = await ask('/sign-in', {code, next});
  if (said) location.replace(said.next);
});
// A link that is opened in the tab of this page changes only what is behind '#'.
addEventListener('hashchange', () => location.reload());
if (code) {
  at('paste').hidden = true;
  at('link').required = false;
  about();
}
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
