-- A data analyst's session over the flights that left New York in 2013. For each turn:
--   Q  what the user asks
--   A  what the scripted model answers: {column} is taken from the result's first row, {last[column]} from its last row,
--      {rows} is the number of rows
-- and between them the query that the scripted model writes.

-- Q Show me everything that left on 1 January, so that I get a feel for the data.
SELECT dep_time, sched_dep_time, dep_delay, arr_time, sched_arr_time, arr_delay, carrier, flight, tailnum, origin, dest, distance
FROM flights WHERE month = 1 AND day = 1 ORDER BY sched_dep_time, carrier, flight;
-- A {rows} flights were planned for that day; the first was {carrier}{flight} from {origin} to {dest} at {sched_dep_time}.

-- Q How many flights are there per origin airport, and how many of them were cancelled?
SELECT origin, count(*) AS flights, count(*) FILTER (dep_time IS NULL) AS cancelled FROM flights GROUP BY origin ORDER BY flights DESC;
-- A {origin} leads with {flights:,} flights, {cancelled:,} of them cancelled; {last[origin]} has {last[flights]:,}.

-- Q Which carriers flew, with their full names and how many flights each?
SELECT f.carrier, a.name, count(*) AS flights FROM flights f JOIN airlines a USING (carrier) GROUP BY ALL ORDER BY flights DESC;
-- A {rows} carriers: {name} flew most, {flights:,} flights; {last[name]} fewest, {last[flights]:,}.

-- Q Give me the average departure delay of every day of the year, by origin.
SELECT month, day, origin, count(*) AS flights, round(avg(dep_delay), 2) AS avg_dep_delay, max(dep_delay) AS max_dep_delay
FROM flights GROUP BY month, day, origin ORDER BY month, day, origin;
-- A Here are {rows} day-and-origin averages, from {origin} on {month}/{day} with {avg_dep_delay} minutes on.

-- Q Which were the ten worst days overall?
SELECT month, day, count(*) AS flights, round(avg(dep_delay), 2) AS avg_dep_delay FROM flights
GROUP BY month, day ORDER BY avg_dep_delay DESC LIMIT 10;
-- A The worst day was {month}/{day}: {flights:,} flights left {avg_dep_delay} minutes late on average.

-- Q List every flight of the worst one.
SELECT sched_dep_time, dep_time, dep_delay, arr_delay, carrier, flight, tailnum, origin, dest, air_time
FROM flights WHERE month = 3 AND day = 8 ORDER BY sched_dep_time, carrier, flight;
-- A {rows} flights stand in the table for 8 March, the first one planned for {sched_dep_time}.

-- Q What was the weather on that day, hour by hour, at all three airports?
SELECT origin, hour, temp, dewp, humid, wind_dir, round(wind_speed, 1) AS wind_speed, round(wind_gust, 1) AS wind_gust, precip, pressure, visib
FROM weather WHERE month = 3 AND day = 8 ORDER BY origin, hour;
-- A {rows} hourly readings; {origin} began the day at {temp} °F with a visibility of {visib} miles.

-- Q Does visibility go with delay in general?
SELECT least(floor(visib), 10)::INT AS visibility, count(*) AS flights, round(avg(dep_delay), 2) AS avg_dep_delay
FROM flights JOIN weather USING (origin, year, month, day, hour) GROUP BY ALL ORDER BY visibility;
-- A Yes: {avg_dep_delay} minutes of delay below a mile, {last[avg_dep_delay]} with ten miles of visibility.

-- Q Which destinations are served? Name, distance, flights and average arrival delay, please.
SELECT dest, a.name, round(avg(distance)) AS miles, count(*) AS flights, round(avg(arr_delay), 1) AS avg_arr_delay
FROM flights LEFT JOIN airports a ON dest = faa GROUP BY dest, a.name ORDER BY flights DESC, dest;
-- A {rows} destinations; {name} ({dest}) is the busiest with {flights:,} flights.

-- Q And the longest of these routes?
SELECT origin, dest, max(distance) AS miles, count(*) AS flights FROM flights GROUP BY origin, dest ORDER BY miles DESC, origin LIMIT 8;
-- A {origin} to {dest}, {miles:,} miles, flown {flights:,} times.

-- Q Which airports in our list were never flown to?
SELECT faa, name, round(lat, 3) AS lat, round(lon, 3) AS lon, alt, tzone FROM airports ANTI JOIN flights ON faa = dest ORDER BY faa;
-- A {rows} airports in the list had no flight from New York, from {name} to {last[name]}.

-- Q Which carriers flew, with their full names and how many flights each?
SELECT f.carrier, a.name, count(*) AS flights FROM flights f JOIN airlines a USING (carrier) GROUP BY ALL ORDER BY flights DESC;
-- A {rows} carriers: {name} flew most, {flights:,} flights; {last[name]} fewest, {last[flights]:,}.

-- Q How does the delay of each carrier move over the months?
SELECT carrier, month, count(*) AS flights, round(avg(dep_delay), 2) AS avg_dep_delay, round(avg(arr_delay), 2) AS avg_arr_delay
FROM flights GROUP BY carrier, month ORDER BY carrier, month;
-- A {rows} carrier-months; {carrier} started the year at {avg_dep_delay} minutes, {last[carrier]} ended it at {last[avg_dep_delay]}.

-- Q So who is the most punctual on arrival?
SELECT name, round(100 * avg((arr_delay <= 0)::INT), 1) AS on_time_percent, round(median(arr_delay), 1) AS median_arr_delay
FROM flights JOIN airlines USING (carrier) GROUP BY name ORDER BY on_time_percent DESC;
-- A {name}: {on_time_percent} % of its flights arrived on time or early; {last[name]} is last with {last[on_time_percent]} %.

-- Q Let us look at the aircraft. All of them, please, with how much each one flew.
SELECT tailnum, p.year AS built, manufacturer, model, seats, count(*) AS flights, sum(distance) AS miles
FROM planes p JOIN flights f USING (tailnum) GROUP BY ALL ORDER BY tailnum;
-- A {rows:,} aircraft, from {tailnum} ({manufacturer} {model}) to {last[tailnum]}.

-- Q How old is each carrier's fleet?
SELECT carrier, count(DISTINCT tailnum) AS planes, round(avg(2013 - p.year), 1) AS avg_age FROM flights f JOIN planes p USING (tailnum)
GROUP BY carrier ORDER BY avg_age DESC;
-- A {carrier} flies the oldest aircraft, {avg_age} years on average; {last[carrier]} the newest, {last[avg_age]}.

-- Q Do older aircraft run later?
SELECT 5 * ((2013 - p.year) // 5) AS age_from, count(*) AS flights, round(avg(dep_delay), 2) AS avg_dep_delay
FROM flights f JOIN planes p USING (tailnum) WHERE p.year IS NOT NULL GROUP BY age_from ORDER BY age_from;
-- A No: aircraft of up to five years left {avg_dep_delay} minutes late, those of the oldest group {last[avg_dep_delay]}.

-- Q Which aircraft flew most often?
SELECT tailnum, carrier, count(*) AS flights, round(sum(air_time) / 60.0) AS hours FROM flights WHERE tailnum IS NOT NULL
GROUP BY tailnum, carrier ORDER BY flights DESC, tailnum LIMIT 10;
-- A {tailnum} of {carrier}, with {flights} flights and {hours:,.0f} hours in the air.

-- Q Show me all the flights of that one.
SELECT month, day, sched_dep_time, dep_delay, arr_delay, carrier, flight, origin, dest, air_time, distance
FROM flights WHERE tailnum = 'N725MQ' ORDER BY month, day, sched_dep_time;
-- A {rows} flights, from {origin}–{dest} on {month}/{day} to {last[origin]}–{last[dest]} on {last[month]}/{last[day]}.

-- Q At which hour should one leave to avoid delays?
SELECT hour, count(*) AS flights, round(avg(dep_delay), 2) AS avg_dep_delay FROM flights WHERE dep_delay IS NOT NULL GROUP BY hour ORDER BY hour;
-- A Early: {avg_dep_delay} minutes at {hour} o'clock, and it grows until the evening.

-- Q And on which day of the week?
SELECT dayname(make_date(year, month, day)) AS weekday, count(*) AS flights, round(avg(dep_delay), 2) AS avg_dep_delay
FROM flights GROUP BY weekday ORDER BY avg_dep_delay;
-- A {weekday} is best with {avg_dep_delay} minutes, {last[weekday]} worst with {last[avg_dep_delay]}.

-- Q Put both together: a grid of weekday and hour.
SELECT dayname(make_date(year, month, day)) AS weekday, hour, count(*) AS flights, round(avg(dep_delay), 2) AS avg_dep_delay
FROM flights WHERE dep_delay IS NOT NULL GROUP BY ALL ORDER BY isodow(any_value(make_date(year, month, day))), hour;
-- A {rows} cells, from {weekday} {hour} o'clock ({avg_dep_delay} minutes) to {last[weekday]} {last[hour]} o'clock.

-- Q Now the extremes: every departure that was more than three hours late.
SELECT month, day, sched_dep_time, dep_delay, arr_delay, carrier, flight, tailnum, origin, dest
FROM flights WHERE dep_delay > 180 ORDER BY dep_delay DESC, month, day, carrier, flight;
-- A {rows:,} departures; the worst left {dep_delay:,} minutes late ({carrier}{flight}, {origin} to {dest}).

-- Q How are they spread over the carriers, as a share of what each of them flew?
SELECT carrier, count(*) FILTER (dep_delay > 180) AS very_late, round(100 * avg((dep_delay > 180)::INT), 2) AS percent
FROM flights GROUP BY carrier ORDER BY percent DESC;
-- A {carrier} is hit hardest with {percent} % ({very_late} flights), {last[carrier]} least with {last[percent]} %.

-- Q How many flights were cancelled on each day?
SELECT month, day, count(*) FILTER (dep_time IS NULL) AS cancelled, count(*) AS planned,
  round(100 * avg((dep_time IS NULL)::INT), 1) AS percent FROM flights GROUP BY month, day ORDER BY month, day;
-- A {rows} days; on {month}/{day} it was {cancelled} of {planned}.

-- Q On which day was it worst?
SELECT month, day, count(*) AS cancelled FROM flights WHERE dep_time IS NULL GROUP BY month, day ORDER BY cancelled DESC LIMIT 5;
-- A On {month}/{day}, with {cancelled} flights cancelled.

-- Q List those that were cancelled on that day.
SELECT sched_dep_time, carrier, flight, tailnum, origin, dest, distance FROM flights
WHERE month = 2 AND day = 8 AND dep_time IS NULL ORDER BY sched_dep_time, carrier, flight;
-- A {rows} flights, beginning with {carrier}{flight} to {dest} at {sched_dep_time}.

-- Q Was it the weather?
SELECT hour, round(avg(temp), 1) AS temp, round(max(wind_speed), 1) AS wind, round(max(wind_gust), 1) AS gust, round(sum(precip), 2) AS precip,
  min(visib) AS visib FROM weather WHERE month = 2 AND day = 8 GROUP BY hour ORDER BY hour;
-- A It looks like it: at {hour} o'clock {temp} °F and a visibility of {visib} miles, by {last[hour]} o'clock {last[visib]}.

-- Q Does wind matter for delays in general?
SELECT 5 * floor(wind_speed / 5)::INT AS wind_from, count(*) AS flights, round(avg(dep_delay), 2) AS avg_dep_delay
FROM flights JOIN weather USING (origin, year, month, day, hour) WHERE wind_speed < 60 GROUP BY ALL ORDER BY wind_from;
-- A A little: {avg_dep_delay} minutes in calm air, {last[avg_dep_delay]} from {last[wind_from]} mph on.

-- Q Which tail numbers of the flights are missing from our list of aircraft?
SELECT tailnum, any_value(carrier) AS carrier, count(*) AS flights FROM flights ANTI JOIN planes USING (tailnum)
WHERE tailnum IS NOT NULL GROUP BY tailnum ORDER BY flights DESC, tailnum;
-- A {rows} of them; {tailnum} alone has {flights} flights.

-- Q Give me the average departure delay of every day of the year, by origin.
SELECT month, day, origin, count(*) AS flights, round(avg(dep_delay), 2) AS avg_dep_delay, max(dep_delay) AS max_dep_delay
FROM flights GROUP BY month, day, origin ORDER BY month, day, origin;
-- A Here are {rows} day-and-origin averages, from {origin} on {month}/{day} with {avg_dep_delay} minutes on.

-- Q How fast do the types of aircraft fly?
SELECT manufacturer, model, count(*) AS flights, round(avg(distance / (air_time / 60.0))) AS mph FROM flights JOIN planes USING (tailnum)
WHERE air_time > 0 GROUP BY manufacturer, model HAVING count(*) > 2000 ORDER BY mph DESC;
-- A The {manufacturer} {model} is fastest with {mph:.0f} mph over {flights:,} flights; {rows} types have more than 2,000.

-- Q Which routes does each carrier fly, and how often?
SELECT carrier, origin, dest, count(*) AS flights, round(avg(arr_delay), 1) AS avg_arr_delay FROM flights
GROUP BY carrier, origin, dest ORDER BY carrier, origin, dest;
-- A {rows} combinations of carrier and route, from {carrier} {origin}–{dest} on.

-- Q On which routes do most carriers compete?
SELECT origin, dest, count(DISTINCT carrier) AS carriers, count(*) AS flights FROM flights
GROUP BY origin, dest ORDER BY carriers DESC, flights DESC LIMIT 10;
-- A On {origin}–{dest}: {carriers} carriers share {flights:,} flights.

-- Q Who makes up time in the air?
SELECT name, round(avg(dep_delay - arr_delay), 2) AS minutes_gained FROM flights JOIN airlines USING (carrier)
GROUP BY name ORDER BY minutes_gained DESC;
-- A {name} gains {minutes_gained} minutes on average; {last[name]} is at {last[minutes_gained]}.

-- Q Compare the months by origin: flights, delay, cancellations.
SELECT month, origin, count(*) AS flights, round(avg(dep_delay), 2) AS avg_dep_delay, count(*) FILTER (dep_time IS NULL) AS cancelled
FROM flights GROUP BY month, origin ORDER BY month, origin;
-- A {rows} rows; {origin} had {flights:,} flights and {cancelled} cancellations in January.

-- Q What left on Christmas Eve?
SELECT sched_dep_time, dep_delay, arr_delay, carrier, flight, tailnum, origin, dest, distance
FROM flights WHERE month = 12 AND day = 24 ORDER BY sched_dep_time, carrier, flight;
-- A {rows} flights, the first of them {carrier}{flight} to {dest}, the last one at {last[sched_dep_time]}.

-- Q How full is Newark by the hour, and does that go with the delay?
SELECT hour, round(count(*) / 365.0, 1) AS flights_per_day, round(avg(dep_delay), 2) AS avg_dep_delay
FROM flights WHERE origin = 'EWR' AND dep_delay IS NOT NULL GROUP BY hour ORDER BY hour;
-- A At {hour} o'clock {flights_per_day} flights leave with {avg_dep_delay} minutes of delay; the delay grows later than the traffic.

-- Q Where does JFK send most seats?
SELECT dest, sum(seats) AS seats, count(*) AS flights FROM flights JOIN planes USING (tailnum) WHERE origin = 'JFK'
GROUP BY dest ORDER BY seats DESC LIMIT 10;
-- A To {dest}: {seats:,.0f} seats on {flights:,} flights.

-- Q Which is the best way to San Francisco?
SELECT origin, name, count(*) AS flights, round(avg(arr_delay), 2) AS avg_arr_delay, round(avg(air_time)) AS minutes
FROM flights JOIN airlines USING (carrier) WHERE dest = 'SFO' GROUP BY origin, name ORDER BY avg_arr_delay;
-- A {name} from {origin}: {avg_arr_delay} minutes on average over {flights:,} flights.

-- Q Does rain change that?
SELECT name, (precip > 0) AS rain, count(*) AS flights, round(avg(arr_delay), 2) AS avg_arr_delay
FROM flights JOIN airlines USING (carrier) JOIN weather USING (origin, year, month, day, hour)
WHERE dest = 'SFO' AND precip IS NOT NULL GROUP BY ALL ORDER BY name, rain;
-- A {name} arrives {avg_arr_delay} minutes late without rain; {rows} rows show all carriers both ways.

-- Q Sum the year up for me: flights, cancellations, median delay and share on time, by origin.
SELECT origin, count(*) AS flights, count(*) FILTER (dep_time IS NULL) AS cancelled, median(dep_delay) AS median_dep_delay,
  round(100 * avg((arr_delay <= 0)::INT), 1) AS on_time_percent FROM flights GROUP BY origin ORDER BY flights DESC;
-- A {origin}: {flights:,} flights, {cancelled:,} cancelled, {on_time_percent} % on time; {last[origin]} reaches {last[on_time_percent]} %.
