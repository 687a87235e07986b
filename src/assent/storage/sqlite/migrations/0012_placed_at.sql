-- Where the clock ran back: the latest moment of the events before this one. It places the event among those of other
-- projects; within its own log the number does. NULL where that is `at` itself.

ALTER TABLE events ADD COLUMN placed_at INTEGER;
