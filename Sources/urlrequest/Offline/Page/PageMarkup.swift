#if CommandLineTool
    extension QueuePage {
        /// The page without any record: the script fills it with text, which cannot become markup.
        static let markup = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Queue</title>
            <link rel="icon" href="data:,">
            <link rel="stylesheet" href="page.css">
            <script src="page.js" defer></script>
            </head>
            <body>
            <header>
            <h1>Queue <span id="name"></span></h1>
            <p><span id="sending" role="status">Connecting…</span> <button id="send" type="button" hidden></button></p>
            </header>
            <main>
            <section aria-label="States"><div id="states" class="tiles" role="group" aria-label="Show records of a state"></div></section>
            <section aria-labelledby="rates-title">
            <h2 id="rates-title">The last hour</h2>
            <div class="charts">
            <figure><figcaption>Deliveries a minute<br><small id="delivered-text"></small></figcaption>
            <svg id="delivered" class="chart" viewBox="0 0 60 100" preserveAspectRatio="none" role="img" aria-labelledby="delivered-text"></svg>
            <p class="axis"><span>an hour ago</span><span>now</span></p></figure>
            <figure><figcaption>Failed attempts a minute<br><small id="failed-text"></small></figcaption>
            <svg id="failed" class="chart bad" viewBox="0 0 60 100" preserveAspectRatio="none" role="img" aria-labelledby="failed-text"></svg>
            <p class="axis"><span>an hour ago</span><span>now</span></p></figure>
            </div>
            </section>
            <section aria-labelledby="records-title">
            <h2 id="records-title">Records</h2>
            <div role="search" class="filters">
            <label>Search <input id="text" type="search" placeholder="URL, failure, key, tag or id" autocomplete="off"></label>
            <label>Lane <select id="lane"></select></label>
            <label>Host <select id="host"></select></label>
            </div>
            <p id="found" role="status"></p>
            <div class="actions" role="group" aria-label="Change records">
            <label class="check"><input id="all" type="checkbox"> Select all that are shown</label>
            <button id="retry-selected" type="button" disabled>Retry selected</button>
            <button id="remove-selected" type="button" disabled>Remove selected</button>
            <button id="retry-matching" type="button">Retry all that match…</button>
            <button id="remove-matching" type="button">Remove all that match…</button>
            </div>
            <p><span id="change" role="status"></span> <button id="stop" type="button" hidden>Stop</button></p>
            <ul id="list" class="records" tabindex="-1" aria-label="Records, newest first"></ul>
            <button id="more" type="button" hidden>Show more</button>
            </section>
            </main>
            <dialog id="record" aria-labelledby="record-title">
            <h2 id="record-title"></h2>
            <div id="facts" class="facts-of-one" role="region" aria-label="What is known of it" tabindex="0"></div>
            <div class="actions">
            <button id="record-retry" type="button">Retry</button>
            <button id="record-remove" type="button">Remove…</button>
            <button id="record-body" type="button">Show body</button>
            <button id="record-lane" type="button">Only its lane</button>
            <button id="record-host" type="button">Only its host</button>
            <button id="record-close" type="button">Close</button>
            </div>
            </dialog>
            <dialog id="confirm" aria-labelledby="confirm-text">
            <form method="dialog">
            <p id="confirm-text"></p>
            <div class="actions"><button value="no">Cancel</button> <button id="confirm-yes" value="yes"></button></div>
            </form>
            </dialog>
            </body>
            </html>
            """

        /// The look of the reports of a run.
        static let style = """
            :root{color-scheme:light dark;--ink:#1b1f24;--dim:#57606a;--page:#fff;--box:#f3f5f7;--line:#d4d9df;--accent:#0b62c4;\
            --on-accent:#fff;--bad:#c4232b;--waiting:#e08e0b;--flight:#2a9d4a}
            @media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--dim:#9aa5b1;--page:#14171b;--box:#1e2329;--line:#343b44;\
            --accent:#6cb2ff;--on-accent:#14171b;--bad:#ff7b81}}
            *{box-sizing:border-box}
            [hidden]{display:none}
            body{margin:0 auto;max-width:70rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
            h1{font-size:1.6rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.25rem;margin:1.5rem 0 .5rem;overflow-wrap:anywhere}
            :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
            button,input,select{font:inherit;color:inherit;background:var(--box);border:1px solid var(--line);border-radius:.35rem;\
            padding:.3rem .7rem;max-width:100%}
            button{cursor:pointer}button:hover:not(:disabled){border-color:var(--accent)}button:disabled{opacity:.5;cursor:default}
            .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:.5rem;margin:1rem 0}
            .tiles button{text-align:left;border-radius:.5rem;padding:.5rem .75rem;border-color:transparent}
            .tiles button[aria-pressed=true]{border-color:var(--accent);box-shadow:inset 0 0 0 1px var(--accent)}
            .tiles span{display:block;color:var(--dim);font-size:.85rem}
            .tiles b{font-size:1.4rem;font-weight:normal;font-variant-numeric:tabular-nums}
            .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem}
            figure{margin:0}small{color:var(--dim)}
            .chart{display:block;width:100%;height:5rem;background:var(--box);border-radius:.25rem;fill:var(--accent)}
            .chart.bad{fill:var(--bad)}
            .axis{display:flex;justify-content:space-between;margin:0;color:var(--dim);font-size:.85rem}
            .filters,.actions{display:flex;flex-wrap:wrap;gap:.5rem;align-items:end;margin:.5rem 0}
            .actions{align-items:center}
            .filters label{display:flex;flex-direction:column;color:var(--dim);font-size:.85rem;flex:1 1 10rem;min-width:0}
            .filters input,.filters select{font-size:1rem;color:var(--ink);width:100%;height:2.4rem}
            .check{display:flex;gap:.4rem;align-items:center;margin-right:.5rem}
            input[type=checkbox]{width:1.1rem;height:1.1rem;margin:0;accent-color:var(--accent);flex:none}
            #found,#sending,#change{color:var(--dim)}
            .records{list-style:none;padding:0;margin:.5rem 0}
            .records li{display:flex;gap:.6rem;align-items:start;border:1px solid var(--line);border-left:.3rem solid var(--line);\
            border-radius:.25rem;margin:.4rem 0;padding:.4rem .6rem}
            .records input{margin-top:.2rem}
            .records li>div{min-width:0;flex:1}
            li.dead{border-left-color:var(--bad)}li.waiting{border-left-color:var(--waiting)}
            li.inFlight{border-left-color:var(--flight)}li.pending{border-left-color:var(--accent)}
            .open{all:unset;cursor:pointer;font-family:ui-monospace,monospace;overflow-wrap:anywhere}
            .open:hover{text-decoration:underline}.open:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
            .facts{color:var(--dim);display:block;font-size:.9rem;overflow-wrap:anywhere}
            dialog{color:inherit;background:var(--page);border:1px solid var(--line);border-radius:.5rem;padding:1rem;\
            width:min(50rem,calc(100vw - 2rem));max-height:calc(100vh - 2rem);overflow:auto}
            dialog::backdrop{background:#0008}
            dialog h2{margin:0 0 .5rem}
            #confirm{width:min(30rem,calc(100vw - 2rem))}
            #confirm-yes{background:var(--accent);color:var(--on-accent);border-color:var(--accent)}
            .facts-of-one{overflow:auto;max-height:60vh}
            dl{display:grid;grid-template-columns:minmax(6rem,auto) 1fr;gap:.25rem 1rem;margin:0}
            dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
            pre{background:var(--box);border-radius:.25rem;padding:.5rem;white-space:pre-wrap;overflow-wrap:anywhere;margin:.5rem 0}
            @media(max-width:30rem){dl{display:block}dd{margin-bottom:.5rem}.actions button{flex:1 1 auto}}
            """
    }
#endif
