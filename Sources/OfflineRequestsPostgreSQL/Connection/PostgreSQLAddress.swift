#if PostgreSQL
    import CRequestOperationsPostgreSQL
    import Foundation
    import RequestOperations

    /// Where a database is and how it is reached: a URL or a connection string of libpq. It may hold a password, so it is
    /// never shown.
    package struct PostgreSQLAddress: Sendable, Hashable {
        package let text: String
        /// What the text names, without the password.
        private let parts: [String: String]

        /// Reads an address. What it leaves out comes from libpq's environment and files.
        ///
        /// - Throws: ``PostgreSQLError`` if it is neither a URL nor a connection string, or if it is a URL whose password has
        ///   a `@` or a `/` that is not escaped.
        package init(_ text: String) throws {
            self.text = text
            // libpq's message would quote the address, with the password.
            let refusal = PostgreSQLError(
                .address,
                """
                the address of the database is neither a URL like postgres://user@host/name nor a connection string of \
                libpq
                """)
            // libpq's own message would quote the address.
            guard let options = PQconninfoParse(text, nil) else { throw refusal }
            defer { PQconninfoFree(options) }
            var parts: [String: String] = [:]
            var option = options
            while let keyword = option.pointee.keyword {
                if let value = option.pointee.val { parts[String(cString: keyword)] = String(cString: value) }
                option += 1
            }
            parts["password"] = nil
            // libpq takes a part of such a password for one of these, and would show it.
            if ["host", "port", "dbname"].contains(where: { parts[$0]?.contains("@") ?? false }) { throw refusal }
            self.parts = parts
        }

        /// The server and the database as text, without the password. The environment completes it.
        package var place: String {
            let names = [
                ("servicefile", "PGSERVICEFILE"), ("service", "PGSERVICE"), ("host", "PGHOST"),
                ("hostaddr", "PGHOSTADDR"), ("port", "PGPORT"), ("dbname", "PGDATABASE"), ("user", "PGUSER"),
            ]
            let environment = ProcessInfo.processInfo.environment
            return names.map { "\($0)=\(parts[$0] ?? environment[$1] ?? "")" }.joined(separator: " ")
        }

        /// What libpq is given to connect, in its order: a later keyword replaces an earlier one.
        var parameters: [(keyword: String, value: String)] {
            var parameters = [
                ("fallback_application_name", "RequestOperations"),
                // A peer that is gone without a word is noticed in half a minute. Sockets of Unix ignore these.
                ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
                ("tcp_user_timeout", "30000"),
            ]
            if getenv("PGCONNECT_TIMEOUT") == nil { parameters.append(("connect_timeout", "10")) }
            return parameters + [("dbname", text), ("client_encoding", "UTF8")]
        }
    }

    extension PostgreSQLAddress: CustomStringConvertible, OpaqueReflectable {
        /// The host and the database, as far as the address names them.
        package var description: String {
            "PostgreSQL \(parts["dbname"] ?? "") at \(parts["host"] ?? "the default host")"
        }
    }
#endif
