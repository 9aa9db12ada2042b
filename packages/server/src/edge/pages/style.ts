/** How pages look: light or dark as the person's system is, readable at any size, and nothing that has to be fetched. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f3f5f8; --card: #ffffff; --ink: #17202b; --quiet: #556272; --line: #cfd6df; --field: #ffffff;
  --accent: #0b5fc1; --accent-hover: #084a97; --on-accent: #ffffff; --focus: #0b5fc1;
  --bad: #a3182b; --bad-ground: #fdf0f1; --good: #10643a; --good-ground: #edf8f1; --shade: 0 1px 2px #17202b14, 0 12px 32px #17202b14;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10161d; --card: #19222c; --ink: #e9eef4; --quiet: #a3b0bf; --line: #3a4857; --field: #121a22;
    --accent: #7db6ff; --accent-hover: #a5cdff; --on-accent: #0a1d35; --focus: #a5cdff;
    --bad: #ff9ca8; --bad-ground: #38191f; --good: #86dcaa; --good-ground: #12301f; --shade: 0 1px 2px #0006, 0 12px 32px #0006;
  }
}
*, ::before, ::after { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; padding: 1.5rem 1rem 3rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Open Sans", "Helvetica Neue", sans-serif;
  display: flex; flex-direction: column; align-items: center;
}
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--card); z-index: 1; }
header { display: flex; align-items: center; gap: .6rem; margin: 4vh 0 1.25rem; font-weight: 650; font-size: 1.1rem; letter-spacing: .01em; }
header svg { width: 1.9rem; height: 1.9rem; }
main { width: 100%; max-width: 27rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 2rem; box-shadow: var(--shade); }
main.wide { max-width: 40rem; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; font-weight: 680; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; line-height: 1.3; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); font-size: .925rem; }
a { color: var(--accent); text-underline-offset: .18em; }
a:hover { color: var(--accent-hover); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: .3rem; }
form { margin: 0; }
.field { margin: 0 0 1.1rem; }
label, legend { display: block; font-weight: 600; margin: 0 0 .3rem; padding: 0; }
.hint { display: block; color: var(--quiet); font-size: .9rem; margin: 0 0 .4rem; }
.wrong { display: block; color: var(--bad); font-size: .925rem; font-weight: 600; margin: 0 0 .4rem; }
input[type=text], input[type=password], input[type=url], select, textarea {
  width: 100%; min-height: 2.75rem; padding: .55rem .8rem; font: inherit; color: inherit; background: var(--field);
  border: 1px solid var(--quiet); border-radius: .55rem;
}
input[aria-invalid=true] { border: 2px solid var(--bad); }
fieldset { border: 0; margin: 0 0 1.1rem; padding: 0; }
.choice { display: flex; gap: .7rem; align-items: flex-start; padding: .6rem .8rem; border: 1px solid var(--line); border-radius: .55rem; margin: 0 0 .5rem; font-weight: 400; }
.choice input { width: 1.15rem; height: 1.15rem; margin: .2rem 0 0; accent-color: var(--accent); flex: none; }
.choice span { min-width: 0; overflow-wrap: anywhere; }
.after { margin: 1.5rem 0 0; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0 0; }
button {
  min-height: 2.75rem; padding: .55rem 1.25rem; font: inherit; font-weight: 650; cursor: pointer;
  border: 1px solid transparent; border-radius: .55rem; background: var(--accent); color: var(--on-accent);
}
button:hover { background: var(--accent-hover); }
button.second { background: transparent; color: var(--accent); border-color: var(--quiet); }
button.second:hover { color: var(--accent-hover); border-color: var(--accent-hover); }
.notice { border: 1px solid var(--good); background: var(--good-ground); color: var(--good); border-radius: .55rem; padding: .75rem 1rem; margin: 0 0 1.25rem; }
.problems { border: 1px solid var(--bad); background: var(--bad-ground); border-radius: .55rem; padding: .75rem 1rem; margin: 0 0 1.25rem; }
.problems h2 { margin: 0 0 .35rem; font-size: 1rem; color: var(--bad); }
.problems ul { margin: 0; padding: 0 0 0 1.1rem; }
.problems a { color: var(--bad); }
dl { margin: 0 0 1rem; display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.25rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
code { font: .925em ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
table { width: 100%; border-collapse: collapse; margin: 0 0 1rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
@media (max-width: 26rem) { main { padding: 1.4rem; } dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } .actions button { width: 100%; } }
@media (prefers-contrast: more) { :root { --line: var(--ink); --quiet: var(--ink); } }
`;
