--- How a page of results looks: light and dark by the reader's wish, on paper
-- in black on white, from 320 pixels of width on.
local import = ...
local palette = import "palette"
local svg = import "svg"

local rules = [[
*{box-sizing:border-box}
html{color-scheme:light dark;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
 font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",
 sans-serif;
 overflow-wrap:anywhere}
main{max-width:1392px;margin:0 auto;padding:clamp(20px,4vw,56px)
 clamp(16px,3vw,48px)}
h1{font-size:clamp(1.7rem,4.5vw,2.5rem);line-height:1.15;margin:0 0 .3em;
 letter-spacing:-.015em;text-wrap:balance}
h2{font-size:1.35rem;line-height:1.25;margin:0 0 .4em;letter-spacing:-.01em}
h3{font-size:.8rem;text-transform:uppercase;letter-spacing:.08em;
 color:var(--muted);margin:2.4em 0 .8em;font-weight:600}
p{margin:.4em 0;max-width:75ch}
a{color:var(--s1)}
.kicker{font-size:.85rem;color:var(--muted);margin:0 0 .8em}
.question{font-size:clamp(1.05rem,2.2vw,1.3rem);line-height:1.4;
 color:var(--muted);text-wrap:pretty}
.operation{font-size:.95rem}
.facts{display:flex;flex-wrap:wrap;gap:8px;margin:1.2em 0 1.6em;padding:0;
 list-style:none;font-size:.85rem}
.facts li{border:1px solid var(--line);border-radius:999px;padding:3px 12px}
.facts .ok{border-color:var(--s3);color:var(--s3)}
.facts .bad{border-color:var(--s2);color:var(--s2)}
.part{border-top:1px solid var(--line);margin-top:56px;padding-top:40px}
nav ol{columns:24em;padding-left:1.4em;font-size:.95rem}
.scroll{overflow-x:auto;margin:0 0 1.2em;overscroll-behavior-x:contain}
table{border-collapse:collapse;font-size:.875rem;line-height:1.35;
 font-variant-numeric:tabular-nums;overflow-wrap:normal}
th,td{padding:5px 12px 5px 0;text-align:left;vertical-align:baseline;
 white-space:nowrap}
th:last-child,td:last-child{padding-right:4px}
thead th{color:var(--muted);font-weight:500;
 border-bottom:1px solid var(--faint)}
thead tr.groups th{border-bottom:0;font-size:.78rem;padding-bottom:0}
tbody tr{border-bottom:1px solid var(--line)}
tbody tr:hover{background:var(--band)}
.n{text-align:right;padding-left:12px}
.i{color:var(--muted)}
tr.reference td,tr.role td{color:var(--muted)}
td.over{white-space:normal;color:var(--s2);max-width:60ch}
.faster{color:var(--s6);font-weight:600}
.slower{color:var(--s2);font-weight:600}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:4px 20px;
 margin:0;font-size:.9rem}
dt{color:var(--muted)}
dd{margin:0}
.described{display:grid;gap:24px 56px;
 grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr))}
.below{max-width:100ch}
.pictures{columns:600px 2;column-gap:24px}
figure{margin:0 0 24px;padding:18px 20px 14px;border:1px solid var(--line);
 border-radius:10px;break-inside:avoid;display:inline-block;width:100%}
figcaption{margin-bottom:10px}
figcaption b{display:block;font-size:1rem;line-height:1.3}
figcaption span{display:block;color:var(--muted);font-size:.82rem;
 line-height:1.4;margin-top:3px}
svg{display:block;width:100%;height:auto}
.narrow{display:none}
details{margin-top:8px;font-size:.85rem}
summary{cursor:pointer;color:var(--muted);padding:2px 0}
details .scroll{max-height:340px;overflow:auto;margin:6px 0 0}
details table{font-size:.8rem}
details .pictures{font-size:1rem;margin-top:12px}
details ul{margin:6px 0;padding-left:1.4em}
pre{font:.88rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;
 background:var(--band);border-radius:8px;padding:14px 18px;margin:0;
 white-space:pre-wrap;user-select:all}
footer{margin-top:64px;padding-top:16px;border-top:1px solid var(--line);
 font-size:.82rem;color:var(--muted)}
:focus-visible{outline:2px solid var(--s1);outline-offset:2px}
@media (max-width:560px){
 .wide{display:none}.narrow{display:block}
 figure{padding:12px 10px 10px}
 h3{margin-top:2em}
 dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:6px}
 .scroll th:first-child,.scroll td:first-child{position:sticky;left:0;
  background:var(--paper)}
}
@media print{
 @page{margin:14mm}
 body{font-size:10pt}
 main{max-width:none;padding:0}
 .pictures{columns:1}
 .scroll,details .scroll{overflow:visible;max-height:none}
 th,td{padding-right:8px}
 tr,figure,.described>div{break-inside:avoid}
 .part{break-before:page;border:0;margin:0;padding:0}
 nav,summary{display:none}
 details::details-content{content-visibility:visible;display:block;
  block-size:auto}
}
]]

return palette.css ":root" .. rules .. svg.style "svg"
