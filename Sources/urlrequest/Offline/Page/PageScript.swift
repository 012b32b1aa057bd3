#if CommandLineTool
    extension QueuePage {
        /// What the browser does. All text from the queue becomes text nodes.
        static let script = #"""
            "use strict";
            const $ = id => document.getElementById(id);
            const states = {"": "All", pending: "Pending", waiting: "Waiting", inFlight: "In flight", dead: "Dead letters"};
            const pageSize = 50;
            // `undefined` means any. An empty lane is that of the records without one, an empty host that of messages.
            const filter = {state: undefined, lane: undefined, host: undefined, text: undefined};
            const rows = new Map();
            let next = null, isLong = false, isBusy = false, generation = 0, live = null;
            // The id of the newest record that the list shows. `null` until it is there, and if it is empty.
            let newest = null;

            function make(tag, properties, ...children) {
              const element = Object.assign(document.createElement(tag), properties);
              element.append(...children);
              return element;
            }
            const number = value => value.toLocaleString("en");
            const counted = value => value > live.mostCounted ? number(live.mostCounted) + "+" : number(value);
            const records = value => value === 1 ? "1 record" : number(value) + " records";

            async function ask(path, body) {
              const response = await fetch(path, body && {method: "POST", body: JSON.stringify(body)});
              if (!response.ok) throw new Error((await response.text()).trim());
              return response.status === 200 ? response.json() : null;
            }
            // An error is shown where the changes are.
            const attempt = action => async (...values) => {
              try { await action(...values); } catch (error) { $("change").textContent = error.message; }
            };

            // The list

            function parameters(more) {
              const pairs = Object.entries({...filter, ...more}).filter(([, value]) => value !== undefined && value !== null);
              return pairs.map(([name, value]) => name + "=" + encodeURIComponent(value)).join("&");
            }

            async function load(isMore) {
              const mine = ++generation;
              const found = [];
              let before = isMore ? next : null, looked = 0;
              isBusy = true;
              try {
                do {
                  const page = await ask("records?" + parameters({before}));
                  if (mine !== generation) return;
                  found.push(...page.records);
                  before = page.next;
                  looked += page.looked;
                  // A look ends after some thousand records. A rare text takes many.
                  if (before && found.length < pageSize)
                    $("found").textContent = `Searching: ${number(looked)} looked at, ${number(found.length)} found`;
                } while (before && found.length < pageSize);
                next = before;
                if (!isMore) newest = found[0]?.id ?? null;
                isLong = isMore || looked > 10000;
                show(found, isMore);
              } finally {
                if (mine === generation) isBusy = false;
              }
            }

            function show(found, isMore) {
              const list = $("list"), kept = new Set(found.map(record => record.id));
              if (!isMore) for (const [id, row] of rows) if (!kept.has(id)) {
                if (row.contains(document.activeElement)) list.focus();
                row.remove();
                rows.delete(id);
              }
              let place = isMore ? null : list.firstElementChild;
              for (const record of found) {
                let row = rows.get(record.id);
                if (!row) rows.set(record.id, row = makeRow(record.id));
                fill(row, record);
                if (row === place) place = place.nextElementSibling; else list.insertBefore(row, place);
              }
              $("more").hidden = !next;
              $("found").textContent = rows.size === 0 ? "No record matches."
                : `${records(rows.size)} shown${next ? ", and there are more" : ""}, newest first.`;
              select();
            }

            function makeRow(id) {
              const check = make("input", {type: "checkbox", ariaLabel: "Select record " + id, onchange: select});
              const open = make("button", {type: "button", className: "open", onclick: attempt(() => openRecord(id))});
              return make("li", {}, check, make("div", {}, open, make("span", {className: "facts"})));
            }

            function fill(row, record) {
              const facts = ["#" + record.id, record.state];
              if (record.attempts === 1) facts.push("1 failed attempt");
              if (record.attempts > 1) facts.push(number(record.attempts) + " failed attempts");
              if (record.lane) facts.push("lane " + record.lane);
              if (record.failure && record.kind !== "dead") facts.push(record.failure);
              row.className = record.kind;
              row.querySelector(".open").textContent = record.subject;
              row.querySelector(".facts").textContent = facts.join(" · ");
            }

            const selected = () => [...rows].filter(([, row]) => row.querySelector("input").checked).map(([id]) => id);
            function select() {
              const count = selected().length;
              $("all").checked = count > 0 && count === rows.size;
              $("all").indeterminate = count > 0 && count < rows.size;
              $("retry-selected").disabled = $("remove-selected").disabled = count === 0;
            }

            // One record

            let opened = null;
            async function openRecord(id, showsBody) {
              const record = await ask(`record?id=${id}${showsBody ? "&show=body" : ""}`);
              opened = {id, ...record};
              $("record-title").textContent = "Record " + id;
              const list = make("dl", {});
              for (const [name, value] of record.facts)
                list.append(make("dt", {textContent: name}), make("dd", {textContent: value}));
              $("facts").replaceChildren(list);
              if (record.body !== undefined) $("facts").append(make("pre", {textContent: record.body}));
              const isThere = record.kind !== "ended";
              $("record-retry").hidden = record.kind !== "dead";
              $("record-remove").hidden = $("record-lane").hidden = !isThere;
              $("record-host").hidden = !record.host;
              $("record-body").hidden = !isThere || !record.hasShortBody || Boolean(showsBody);
              if (!$("record").open) $("record").showModal();
              if (showsBody) $("facts").focus();
            }

            // Changes

            function confirmed(text, verb) {
              const dialog = $("confirm");
              $("confirm-text").textContent = text;
              $("confirm-yes").textContent = verb;
              dialog.returnValue = "no";
              dialog.showModal();
              return new Promise(resolve => dialog.onclose = () => resolve(dialog.returnValue === "yes"));
            }

            async function change(verb, target, question) {
              const title = verb === "retry" ? "Retry" : "Remove";
              if (question && !await confirmed(question, title)) return;
              if (verb === "remove" || target.ids?.includes(opened?.id)) $("record").close();
              $("change").textContent = verb === "retry" ? "Retrying…" : "Removing…";
              await ask(verb, target);
            }

            // All that match. What the list did not show because it is newer stays as it is.
            async function changeMatching(verb, question) {
              if (newest === null) throw new Error("The list shows no record.");
              await change(verb, {...filter, before: String(BigInt(newest) + 1n)}, question);
            }

            function matching() {
              const parts = [];
              if (filter.state) parts.push(`in the state “${states[filter.state]}”`);
              if (filter.lane !== undefined) parts.push(filter.lane ? `of the lane ${filter.lane}` : "without a lane");
              if (filter.host !== undefined) parts.push(filter.host ? `to ${hostName(filter.host)}` : "that are messages");
              if (filter.text) parts.push(`with the text “${filter.text}”`);
              return parts.length ? "all records " + parts.join(", ") : `all ${records(live.counts[""])} of the queue`;
            }

            // Filters and the live state

            const hostName = host => host || "(messages)";
            function options(select, groups, value, any, name) {
              const shown = groups.map(group => [group.name, `${name(group.name)} (${counted(group.count)})`]);
              if (value !== undefined && !groups.some(group => group.name === value)) shown.push([value, name(value)]);
              // A value has a mark, since an empty text is a lane too.
              const wanted = [["", any], ...shown.map(([name, text]) => ["=" + name, text])];
              if (JSON.stringify(wanted) !== select.wanted) {
                select.wanted = JSON.stringify(wanted);
                select.replaceChildren(...wanted.map(([value, text]) => make("option", {value, textContent: text})));
              }
              select.value = value === undefined ? "" : "=" + value;
            }

            function draw(id, values) {
              const most = Math.max(...values, 1), sum = values.reduce((a, b) => a + b, 0);
              $(id + "-text").textContent = `${number(sum)} in all, at most ${number(Math.max(...values))} in a minute`;
              $(id).replaceChildren(...values.map((value, index) => {
                const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
                const height = 96 * value / most;
                const attributes = {x: index, y: 100 - height, width: 0.85, height};
                for (const [name, value] of Object.entries(attributes)) bar.setAttribute(name, value);
                return bar;
              }));
            }

            function update() {
              document.title = "Queue " + live.name;
              $("name").textContent = live.name;
              $("sending").textContent = live.isPaused ? "This page only looks; it sends nothing."
                : "The process of this page delivers, if no other process does.";
              $("send").hidden = false;
              $("send").textContent = live.isPaused ? "Deliver" : "Pause";
              if (!$("states").children.length) $("states").append(...Object.entries(states).map(([state, title]) => {
                const tile = make("button", {type: "button"}, make("span", {textContent: title}), make("b", {}));
                tile.dataset.state = state;
                tile.onclick = attempt(() => apply({state: state || undefined}));
                return tile;
              }));
              for (const tile of $("states").children) {
                tile.querySelector("b").textContent = number(live.counts[tile.dataset.state]);
                tile.ariaPressed = String((filter.state ?? "") === tile.dataset.state);
              }
              draw("delivered", live.delivered);
              draw("failed", live.failed);
              options($("lane"), live.lanes, filter.lane, "Any lane", name => name || "(no lane)");
              options($("host"), live.hosts, filter.host, "Any host", hostName);
              if (live.change) {
                const {verb, done, isRunning, error} = live.change;
                const doing = verb === "retry" ? isRunning ? "Retrying" : "Retried" : isRunning ? "Removing" : "Removed";
                $("change").textContent = `${doing}: ${records(done)}${error ? "; " + error : ""}`;
                $("stop").hidden = !isRunning;
              }
            }

            async function apply(values) {
              Object.assign(filter, values);
              newest = null;
              for (const row of rows.values()) row.querySelector("input").checked = false;
              update();
              await load(false);
            }

            const events = new EventSource("events");
            events.onmessage = attempt(async event => {
              const isFirst = !live;
              live = JSON.parse(event.data);
              update();
              // A long list stays as it is while somebody reads it.
              if (isFirst || !isBusy && !isLong) await load(false);
            });
            events.onerror = () => $("sending").textContent = "The connection is lost. The page tries again.";

            let typing = null;
            $("text").oninput = () => {
              clearTimeout(typing);
              typing = setTimeout(attempt(() => apply({text: $("text").value.trim() || undefined})), 300);
            };
            for (const name of ["lane", "host"])
              $(name).onchange = attempt(() => apply({[name]: $(name).value ? $(name).value.slice(1) : undefined}));
            $("send").onclick = attempt(() => ask(live.isPaused ? "resume" : "pause", {}));
            $("stop").onclick = attempt(() => ask("stop", {}));
            $("more").onclick = attempt(() => load(true));
            $("all").onchange = () => {
              for (const row of rows.values()) row.querySelector("input").checked = $("all").checked;
              select();
            };
            $("retry-selected").onclick = attempt(() => {
              const ids = selected();
              return change("retry", {ids}, `Retry the dead letters among ${records(ids.length)}?`);
            });
            $("remove-selected").onclick = attempt(() => {
              const ids = selected();
              const they = ids.length === 1 ? "It is" : "They are";
              return change("remove", {ids}, `Remove ${records(ids.length)}? ${they} not sent afterwards.`);
            });
            $("retry-matching").onclick = attempt(() => changeMatching("retry", `Retry the dead letters among ${matching()}?`));
            $("remove-matching").onclick = attempt(() =>
              changeMatching("remove", `Remove ${matching()}? They are not sent afterwards. Newer records stay.`));
            $("record-close").onclick = () => $("record").close();
            $("record-body").onclick = attempt(() => openRecord(opened.id, true));
            $("record-retry").onclick = attempt(() => change("retry", {ids: [opened.id]}));
            $("record-remove").onclick = attempt(() =>
              change("remove", {ids: [opened.id]}, `Remove record ${opened.id}? It is not sent afterwards.`));
            for (const name of ["lane", "host"]) $("record-" + name).onclick = attempt(() => {
              $("record").close();
              return apply({[name]: opened[name]});
            });
            """#
    }
#endif
