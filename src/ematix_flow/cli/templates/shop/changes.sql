-- What happens in the shop on March 31st, between the first load and the second.

-- Ada moves.
UPDATE customers SET city = 'Oslo' WHERE name = 'Ada';
INSERT INTO customer_log (customer_id, name, city, what, happened_at)
    VALUES (1, 'Ada', 'Oslo', 'moved', '2026-03-31 09:10:00');

-- Grace closes her account.
DELETE FROM customers WHERE name = 'Grace';
INSERT INTO customer_log (customer_id, name, city, what, happened_at)
    VALUES (3, 'Grace', 'New York', 'left', '2026-03-31 11:00:00');

-- Edsger opens one, and Noor's address is written as she writes it.
INSERT INTO customers VALUES (31, 'Edsger', 'edsger@example.com', 'Austin');
INSERT INTO customer_log (customer_id, name, city, what, happened_at)
    VALUES (31, 'Edsger', 'Austin', 'joined', '2026-03-31 14:25:00');
UPDATE customers SET email = 'noor@example.com' WHERE name = 'Noor';

-- Three weeks late the log learns where two customers had lived for a while.
INSERT INTO customer_log (customer_id, name, city, what, happened_at) VALUES
    (2, 'Alan', 'Bath', 'moved', '2026-03-09 10:00:00'),
    (4, 'Katherine', 'Langley', 'moved', '2026-03-10 08:00:00');

-- Teapots become cheaper. What was sold keeps the price it was sold at.
UPDATE products SET price = 45.00 WHERE title = 'Teapot';

-- Five orders of the day, and two of the 28th that had been on paper.
INSERT INTO orders (customer_id, product_id, quantity, unit_price, placed_at) VALUES
    (1, 1, 1, 34.50, '2026-03-31 08:02:00'),
    (2, 4, 2, 12.90, '2026-03-31 09:47:00'),
    (9, 7, 1, 24.00, '2026-03-31 12:15:00'),
    (31, 2, 1, 45.00, '2026-03-31 14:31:00'),
    (31, 5, 3, 4.20, '2026-03-31 14:31:00'),
    (4, 1, 2, 34.50, '2026-03-28 16:20:00'),
    (12, 2, 1, 49.00, '2026-03-28 17:05:00');
