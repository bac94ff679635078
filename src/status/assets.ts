/** The style and the script of the status page, and the policy that lets a browser use these and nothing else. */
import { createHash } from 'node:crypto';

export const style = `
:root{color-scheme:light dark;
--ground:#f6f7f9;--panel:#fff;--raised:#f9fafb;--line:#e2e6eb;--text:#1b2330;--quiet:#566172;--link:#0b57b7;
--ok:#1a7f45;--bad:#c0261c;--warn:#8f5400;--idle:#6a7585;
--ok-bar:#43b375;--bad-bar:#df5146;--warn-bar:#dd9a2f;--idle-bar:#b4bcc8;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
@media (prefers-color-scheme:dark){:root{
--ground:#0e1217;--panel:#161b22;--raised:#1b212a;--line:#2a323d;--text:#e3e8ef;--quiet:#9aa5b4;--link:#7db7ff;
--ok:#56c98a;--bad:#ff8279;--warn:#e5ae52;--idle:#94a0b0;
--ok-bar:#3a9c66;--bad-bar:#d9534a;--warn-bar:#c58a2c;--idle-bar:#4a5566}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);text-size-adjust:100%;
font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,Inter,"Noto Sans","Liberation Sans",sans-serif}
a{color:var(--link);text-decoration:none}
a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
.wrap{max-width:1320px;margin:0 auto;padding:0 24px}
.skip{position:absolute;left:-9999px}
.skip:focus{left:8px;top:8px;background:var(--panel);padding:6px 10px}
.top,.panel{background:var(--panel);border:1px solid var(--line)}
.top .wrap,.pages,.lead,.facts,form,.pager,footer{display:flex;flex-wrap:wrap;align-items:center;gap:6px 18px}
.top{border-width:0 0 1px;padding:11px 0}
.brand{font-weight:600}
.pages,.push{margin-left:auto}
small,.brand small,.facts,.pager,.more,.conditions,.none,footer{color:var(--quiet);font-size:13px;font-weight:400}
.lead{padding:20px 0 14px}
h1{font-size:20px;line-height:1.3;margin:0;font-weight:650;display:flex;align-items:center;gap:10px}
h1::before{content:"";width:10px;height:10px;border-radius:50%;background:var(--ok-bar);flex:none}
h1.bad::before{background:var(--bad-bar)}
h1.warn::before{background:var(--warn-bar)}
h1.idle::before{background:var(--idle-bar)}
h2{font-size:14px;font-weight:600;margin:0;display:inline}
.facts{margin:0}
.facts div{display:flex;gap:5px}
.facts dd{margin:0;color:var(--text)}
.panel{border-radius:8px;margin:0 0 16px}
.lost{margin:0 0 16px;padding:9px 14px;border:1px solid var(--bad-bar);border-radius:8px;background:var(--panel)}
.title{display:block;padding:12px 16px}
summary{cursor:pointer;overflow-wrap:anywhere}
summary.title{display:list-item;list-style-position:inside}
.title span,.title a{margin-left:10px;font-size:13px}
.problem{padding:8px 16px;border-top:1px solid var(--line);overflow-wrap:anywhere}
.problem.bad strong{color:var(--bad)}
.problem.warn strong{color:var(--warn)}
.problem ul{margin:6px 0 2px;padding-left:32px;font-size:13px}
.problem pre{margin:4px 0;font:12px/1.5 var(--mono);white-space:pre-wrap;max-height:12em;overflow:auto}
.meaning{margin-left:16px;color:var(--quiet);font-size:13px}
.more,.conditions,.pager{margin:0;padding:8px 16px;border-top:1px solid var(--line)}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:6px 8px;vertical-align:top;font-weight:400}
th:first-child,td:first-child{padding-left:16px}
th:last-child,td:last-child{padding-right:16px}
thead th{color:var(--quiet);font-size:12px;font-weight:500;white-space:nowrap}
thead a{color:inherit}
th[aria-sort]{color:var(--text);font-weight:600}
tbody tr,tfoot tr,.rows thead{border-top:1px solid var(--line)}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.scroll{overflow-x:auto}
.overview tfoot *{font-weight:600}
.overview .n{width:7.5%}
.overview tr+tr th{padding-left:32px}
.share{width:22%;vertical-align:middle}
.share svg{display:block;width:100%;height:8px;border-radius:4px}
.zero{color:var(--quiet)}
.f-ok{fill:var(--ok-bar)}.f-bad{fill:var(--bad-bar)}.f-warn{fill:var(--warn-bar)}.f-idle{fill:var(--idle-bar)}
.t-ok{color:var(--ok)}.t-bad{color:var(--bad)}.t-warn{color:var(--warn)}.t-idle{color:var(--idle)}
.chip,.tag{display:inline-block;font-size:12px;line-height:1.4;border:1px solid;border-radius:9px;padding:0 7px}
.tag{color:var(--warn);border-radius:4px}
.conditions{line-height:1.9}
form{padding:12px 16px;gap:8px}
input,select,button{font:inherit;font-size:13.5px;color:var(--text);background:var(--panel);
border:1px solid var(--line);border-radius:6px;padding:5px 9px;height:32px;max-width:100%}
input[type=search]{flex:1 1 200px;max-width:360px}
#targets{scroll-margin-top:64px}
.rows tbody tr:hover{background:var(--raised)}
.rows .name{font-weight:500}
.rows .ids{display:inline-block;font:12px/1.45 var(--mono);color:var(--quiet)}
.rows .of{color:var(--quiet);font-size:13px}
.rows .t,.rows .why{overflow-wrap:anywhere}
.rows .s,.rows small{white-space:nowrap}
.state{display:inline-flex;align-items:center;gap:6px;font-weight:500;font-size:13px}
.state::before{content:"";width:8px;height:8px;border-radius:50%;background:currentColor}
.state.t-bad::before{border-radius:1px;transform:rotate(45deg)}
.state.t-warn::before{border-radius:1px}
.state.t-idle::before{background:none;border:2px solid currentColor}
.result{font:500 12px/1.5 var(--mono);color:var(--bad)}
.none{padding:28px 16px;text-align:center}
footer{padding-bottom:28px}
@media (min-width:1101px){
.rows .s,.rows .c,.rows .n{width:1%}
.rows .t{width:28%}
}
@media (max-width:1100px){
.wrap{padding:0 14px}
.pages,.push{margin-left:0}
form h2,input[type=search]{flex-basis:100%;max-width:none}
select{flex:1 1 30%;min-width:0}
.overview .n{padding-left:4px;padding-right:4px;width:auto}
.overview .n:nth-last-child(1 of :not(.series,.pending)){padding-right:16px}
.overview thead th{font-size:11px;white-space:normal;vertical-align:bottom}
.share,.overview .series,.overview .pending,.rows th:not(:has(a)){display:none}
.rows,.rows thead,.rows tbody,.rows td{display:block}
.rows thead tr{display:flex;flex-wrap:wrap;gap:0 14px;padding:0 16px}
.rows thead th{padding:6px 0}
.rows tbody tr{display:grid;grid-template-columns:1fr 1fr 104px;gap:3px 12px;padding:10px 16px}
.rows tbody td{padding:0;width:auto;min-width:0;text-align:left}
.rows .t{grid-area:1/1/2/3}
.rows .s{grid-area:1/3/2/4}
.rows .s,.rows .s small{white-space:normal}
.rows .c,.rows .why{grid-column:1/-1}
.rows td:empty{display:none}
.rows td.n::before{content:attr(data-label);display:block;color:var(--quiet);font-size:11.5px}
}
@media (max-width:400px){
.overview .n{padding-left:2px;padding-right:2px}
.overview th:first-child{overflow-wrap:anywhere}
}
`;

/**
 * Loads the page again and replaces its live parts, which keeps the scroll position, the focus and what is being typed:
 * every 15 seconds unless it is still loading, hidden or text in it is selected, and at once when a filter changes.
 */
export const script = `
(() => {
  const lost = document.getElementById('lost');
  const form = document.querySelector('form');
  let loading;
  async function load() {
    const turn = {};
    loading = turn;
    try {
      const signal = AbortSignal.timeout(60_000);
      const answer = await fetch(location.href, { cache: 'no-store', signal });
      if (!answer.ok) throw new Error(String(answer.status));
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
      if (turn !== loading) return;
      if (next.documentElement.dataset.build !== document.documentElement.dataset.build) location.reload();
      for (const part of document.querySelectorAll('[data-live]')) show(part, next.getElementById(part.id));
      document.title = next.title;
      document.querySelector('link[rel=icon]').href = next.querySelector('link[rel=icon]').href;
      lost.hidden = true;
    } catch {
      if (turn === loading) lost.hidden = false;
    }
    if (turn === loading) loading = undefined;
  }
  function show(part, fresh) {
    const at = [...part.querySelectorAll('a')].indexOf(document.activeElement);
    const opened = [...part.querySelectorAll('details[open]')].map(({ id }) => id);
    part.replaceChildren(...fresh.childNodes);
    for (const one of part.querySelectorAll('details')) one.open = opened.includes(one.id);
    part.querySelectorAll('a')[at]?.focus({ preventScroll: true });
  }
  function refresh() {
    if (!loading && !document.hidden && getSelection().type !== 'Range') load();
  }
  setInterval(refresh, 15_000);
  document.addEventListener('visibilitychange', refresh);

  let typing;
  function filter(event) {
    if (event.type === 'submit') event.preventDefault();
    clearTimeout(typing);
    typing = setTimeout(() => {
      const given = [...new FormData(form)].filter(([, value]) => value !== '');
      history.replaceState(null, '', './?' + new URLSearchParams(given));
      load();
    }, 250);
  }
  form.addEventListener('submit', filter);
  form.addEventListener('input', filter);
})();
`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The style and the script above, requests to the page itself, the icon within it; nothing else. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  "connect-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers that let a browser show the page. */
export const statusPageHeaders = { 'Content-Security-Policy': contentSecurityPolicy } as const;
