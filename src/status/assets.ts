/** The style and the script of the status page, and the policy that lets a browser use these and nothing else. */
import { createHash } from 'node:crypto';

/** How often an open page reloads its content while it is visible. */
export const refreshSeconds = 15;

/** The same where scripts are off; the whole page is loaded then. */
export const refreshSecondsWithoutScript = 30;

/** How long a search waits for the next letter. */
const typingMs = 250;

export const style = `
:root{color-scheme:light dark;
--ground:#f6f7f9;--panel:#fff;--raised:#f9fafb;--line:#e2e6eb;--text:#1b2330;--quiet:#566172;--link:#0b57b7;
--ok:#1a7f45;--bad:#c0261c;--warn:#8f5400;--bad-ground:#fdf1f0;--warn-ground:#fdf6e8;--idle:#6a7585;
--ok-bar:#43b375;--bad-bar:#df5146;--warn-bar:#dd9a2f;--idle-bar:#b4bcc8;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
@media (prefers-color-scheme:dark){:root{
--ground:#0e1217;--panel:#161b22;--raised:#1b212a;--line:#2a323d;--text:#e3e8ef;--quiet:#9aa5b4;--link:#7db7ff;
--ok:#56c98a;--bad:#ff8279;--warn:#e5ae52;--bad-ground:#2b1a1b;--warn-ground:#2a2317;--idle:#94a0b0;
--ok-bar:#3a9c66;--bad-bar:#d9534a;--warn-bar:#c58a2c;--idle-bar:#4a5566}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);
font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,Inter,"Noto Sans","Liberation Sans",sans-serif;
-webkit-text-size-adjust:100%;text-size-adjust:100%}
a{color:var(--link);text-decoration:none}
a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
.wrap{max-width:1320px;margin:0 auto;padding:0 24px}
.skip{position:absolute;left:-9999px}
.skip:focus{left:8px;top:8px;background:var(--panel);padding:6px 10px;z-index:1}
.top{background:var(--panel);border-bottom:1px solid var(--line)}
.top .wrap{display:flex;flex-wrap:wrap;align-items:center;gap:6px 24px;padding-top:11px;padding-bottom:11px}
.brand{display:flex;align-items:baseline;gap:8px;font-weight:600}
.brand svg{width:16px;height:16px;align-self:center}
.brand small{font-weight:400;color:var(--quiet);font-size:12.5px}
nav.pages{margin-left:auto;display:flex;flex-wrap:wrap;gap:4px 18px;font-size:13.5px}
.lead{display:flex;flex-wrap:wrap;align-items:baseline;gap:4px 20px;padding:20px 0 14px}
h1{text-wrap:balance;font-size:20px;line-height:1.3;margin:0;font-weight:650;letter-spacing:-.01em;display:flex;align-items:center;gap:10px}
h1::before{content:"";width:10px;height:10px;border-radius:50%;background:var(--ok-bar);flex:none}
h1.bad::before{background:var(--bad-bar)}h1.warn::before{background:var(--warn-bar)}h1.idle::before{background:var(--idle-bar)}
.facts{margin:0;color:var(--quiet);font-size:13px;display:flex;flex-wrap:wrap;gap:2px 18px}
.facts div{display:flex;gap:5px}.facts dt,.facts dd{margin:0}.facts dd{color:var(--text);font-variant-numeric:tabular-nums}
.notice{margin:0 0 8px;padding:9px 14px;border:1px solid var(--line);border-left:3px solid var(--warn-bar);border-radius:6px;
background:var(--warn-ground);font-size:13.5px;overflow-wrap:anywhere}
.notice.bad{border-left-color:var(--bad-bar);background:var(--bad-ground)}
.notice.idle{border-left-color:var(--idle-bar);background:var(--panel)}
.notice:last-child{margin-bottom:16px}
.notice strong{font-weight:600}
.notice pre{margin:6px 0 0;font:12px/1.5 var(--mono);white-space:pre-wrap;max-height:12em;overflow:auto}
.causes h2{padding:12px 16px 4px}
.cause{padding:8px 16px;border-top:1px solid var(--line);color:var(--text)}
.cause summary{cursor:pointer;overflow-wrap:anywhere}
.cause.t-bad strong{color:var(--bad)}.cause.t-warn strong{color:var(--warn)}
.cause .meaning{display:block;margin-left:16px;color:var(--quiet);font-size:13px}
.cause ul{margin:6px 0 2px;padding-left:32px;font-size:13px}
.panel{background:var(--panel);border:1px solid var(--line);border-radius:8px;margin:0 0 16px}
h2{font-size:14px;font-weight:600;margin:0}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:8px 12px;vertical-align:top;font-weight:400}
th:first-child,td:first-child{padding-left:16px}th:last-child,td:last-child{padding-right:16px}
thead th{color:var(--quiet);font-size:12px;font-weight:500;white-space:nowrap;padding-top:9px;padding-bottom:8px}
thead th a{color:inherit}thead th[aria-sort] a{color:var(--text);font-weight:600}
tbody tr,tfoot tr{border-top:1px solid var(--line)}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.scroll{overflow-x:auto}
.overview td,.overview tbody th,.overview tfoot th{padding-top:6px;padding-bottom:6px}
.overview tfoot th,.overview tfoot td{font-weight:600}
.overview .n{width:7.5%}
.overview tbody tr+tr th{padding-left:32px;color:var(--quiet)}.overview small{color:var(--quiet)}
.overview .share{width:26%;vertical-align:middle}
.zero{color:var(--quiet)}
.share svg{display:block;width:100%;height:8px;border-radius:4px;background:var(--line)}
.f-ok{fill:var(--ok-bar)}.f-bad{fill:var(--bad-bar)}.f-warn{fill:var(--warn-bar)}.f-idle{fill:var(--idle-bar)}
.t-ok{color:var(--ok)}.t-bad{color:var(--bad)}.t-warn{color:var(--warn)}.t-idle{color:var(--idle)}
form{display:flex;flex-wrap:wrap;gap:8px;align-items:center;padding:12px 16px;border-bottom:1px solid var(--line)}
form h2{margin-right:8px}
input,select,button{font:inherit;font-size:13.5px;color:var(--text);background:var(--panel);border:1px solid var(--line);
border-radius:6px;padding:5px 9px;height:32px;max-width:100%}
input[type=search]{flex:1 1 200px;min-width:120px;max-width:360px}
button{font-weight:500;cursor:pointer;background:var(--raised)}
button:hover{border-color:var(--quiet)}
.push{margin-left:auto;color:var(--quiet);font-size:13px}
.head{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:baseline;padding:12px 16px;border-bottom:1px solid var(--line)}
.head h2{display:inline}summary.head{cursor:pointer;list-style-position:inside}
details:not([open])>.head{border-bottom:0}
.head span{color:var(--quiet);font-size:13px}.head a{font-size:13px}
.more{margin:0;padding:8px 16px;border-top:1px solid var(--line);font-size:13.5px;color:var(--quiet)}
#targets{scroll-margin-top:72px}
.targets td{padding-top:6px;padding-bottom:6px}
.targets th,.targets td{padding-left:8px;padding-right:8px}
.targets th:first-child,.targets td:first-child{padding-left:16px}.targets th:last-child,.targets td:last-child{padding-right:16px}
.targets tbody tr:hover{background:var(--raised)}
.targets .name{font-weight:500;overflow-wrap:anywhere;margin-right:6px}
.targets .ids{display:inline-block;font:12px/1.45 var(--mono);color:var(--quiet);overflow-wrap:anywhere}
.targets .s{white-space:nowrap}.targets .why,.targets .cred{overflow-wrap:anywhere}
.targets .kind,.targets .cred{color:var(--quiet)}.targets .kind{white-space:nowrap}
@media (min-width:821px){.targets .s,.targets .c,.targets .kind,.targets .n{width:1%}
.targets .t{min-width:220px}.targets .t{width:34%}.targets .why{width:20%}.targets .cred{min-width:80px}}
.chip{display:inline-block;font-size:12px;line-height:1.4;border:1px solid;border-radius:9px;padding:0 7px;white-space:nowrap}
a.chip:hover{text-decoration:none;background:var(--raised)}
.conditions{margin:0;padding:8px 16px;border-top:1px solid var(--line);font-size:13px;color:var(--quiet);line-height:1.9}
.conditions .chip{margin-left:4px}
.notice ul{margin:4px 0 0;padding-left:20px}
.state{display:inline-flex;align-items:center;gap:6px;white-space:nowrap;font-weight:500;font-size:13px}
.state::before{content:"";width:8px;height:8px;border-radius:50%;background:currentColor}
.state.t-bad::before{border-radius:1px;transform:rotate(45deg)}
.state.t-warn::before{border-radius:1px}
.state.t-idle::before{background:none;border:2px solid currentColor}
.tag{font-size:12px;color:var(--warn);border:1px solid;border-radius:4px;padding:0 4px;margin-left:2px}
.why .result{font:500 12px/1.5 var(--mono);color:var(--bad)}.why small{color:var(--quiet);font-size:12.5px;white-space:nowrap}
.none{padding:28px 16px;text-align:center;color:var(--quiet)}
.pager{display:flex;flex-wrap:wrap;gap:6px 16px;align-items:center;padding:10px 16px;border-top:1px solid var(--line);
font-size:13.5px;color:var(--quiet)}
.pager .push{display:flex;gap:16px}
footer{color:var(--quiet);font-size:12.5px;padding:2px 0 28px;display:flex;flex-wrap:wrap;gap:4px 18px}
@media (max-width:1000px){.targets .kind,.targets .cred{display:none}.overview .share{display:none}}
@media (max-width:820px){
.wrap{padding:0 14px}
nav.pages{margin-left:0;gap:4px 16px}
.lead{padding:16px 0 12px}
.overview th,.overview td{padding-left:4px;padding-right:8px}.overview th:first-child{padding-left:14px}.overview .n:nth-last-child(2){padding-right:14px}
.overview .series,.overview .nil,.listings .took{display:none}
.conditions,.head{padding-left:14px;padding-right:14px}
.overview thead th{font-size:11.5px}
.overview .n{width:auto}
form{padding:12px 14px}#reset:empty{display:none}form h2,input[type=search]{flex-basis:100%;max-width:none}
select{flex:1 1 40%;min-width:0}
.push{margin-left:0}form .push{flex-basis:100%}
.targets thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.targets,.targets tbody{display:block}
.targets tbody tr{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr) 104px;gap:3px 12px;padding:10px 14px}
.targets td,.targets td:first-child,.targets td:last-child{display:block;padding:0;width:auto;min-width:0;text-align:left}
.targets .t{grid-area:1/1/2/3}
.targets .c:empty{display:none}.targets .c{grid-column:1/-1;grid-row:2}
.targets .s{grid-area:1/3/2/4;justify-self:end;text-align:right}
.targets tbody .n{font-size:13px}
.targets .n::before{content:attr(data-label);display:block;color:var(--quiet);font-size:11.5px}
.targets .why{grid-column:1/-1}.targets .why:empty{display:none}
}
@media (max-width:440px){
.overview th,.overview td{padding-left:3px;padding-right:5px;font-size:13px}.overview thead th{font-size:10.5px}
}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
@media print{form,.pager,nav,.skip{display:none}}
`;

/**
 * Loads the page again and replaces the live parts of it, which keeps the scroll position, the focus and what is being
 * typed: every now and then unless the page is hidden, paused or text in it is selected, and at once when a filter changes.
 */
export const script = `
(() => {
  const root = document.documentElement;
  const lost = document.getElementById('lost');
  const form = document.querySelector('form');
  let askedAt = Date.now();
  let asked = 0;
  let busy = false;
  async function load(url) {
    const turn = ++asked;
    busy = true;
    askedAt = Date.now();
    try {
      const answer = await fetch(url, { cache: 'no-store' });
      if (!answer.ok) throw new Error(String(answer.status));
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
      if (turn !== asked) return;
      // The server leaves out of the address what is not set.
      if (answer.url !== location.href) history.replaceState(null, '', answer.url);
      if (next.documentElement.dataset.build !== root.dataset.build) return location.reload();
      for (const part of document.querySelectorAll('[data-live]')) {
        const fresh = next.getElementById(part.id);
        if (!fresh) continue;
        const at = [...part.querySelectorAll('a')].indexOf(document.activeElement);
        const opened = [...part.querySelectorAll('details[open]')].map(({ id }) => id);
        part.replaceChildren(...fresh.childNodes);
        // What somebody has opened stays open.
        for (const one of part.querySelectorAll('details')) one.open ||= opened.includes(one.id);
        part.querySelectorAll('a')[at]?.focus({ preventScroll: true });
      }
      document.title = next.title;
      document.querySelector('link[rel=icon]').href = next.querySelector('link[rel=icon]').href;
      lost.hidden = true;
    } catch {
      if (turn === asked) lost.hidden = false;
    } finally {
      if (turn === asked) busy = false;
    }
  }
  const isPaused = () => new URLSearchParams(location.search).get('refresh') === 'off';
  function refresh() {
    if (!busy && !isPaused() && !document.hidden && getSelection().type !== 'Range') load(location.href);
  }
  setInterval(refresh, ${refreshSeconds * 1000});
  document.addEventListener('visibilitychange', () => {
    if (Date.now() - askedAt > ${refreshSeconds * 1000}) refresh();
  });

  let typing;
  function filter() {
    clearTimeout(typing);
    load(form.getAttribute('action') + '?' + new URLSearchParams(new FormData(form)));
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    filter();
  });
  form.addEventListener('input', (event) => {
    clearTimeout(typing);
    typing = setTimeout(filter, event.target.type === 'search' ? ${typingMs} : 0);
  });
})();
`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The style and the script above, requests to the page itself, the icon within it; nothing else. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  "connect-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
