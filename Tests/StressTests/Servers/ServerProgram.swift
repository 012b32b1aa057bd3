#if os(Linux)
    import Foundation

    /// A server or proxy that is not ours, as Debian packages it: how it is configured and started, and what it offers.
    ///
    /// Each answers for the same resources: those below `/files/` from the folder `www` where it can serve files, all
    /// else, or everything, from a server of ours to which it forwards.
    struct ServerProgram: Sendable {
        let name: String
        /// How requests can be sent to it, or through it.
        let ways: [Way]
        /// The uploads that it forwards to the server of ours; none if it serves files alone.
        let uploads: Set<Upload>
        /// Whether it ends connections that had nothing to do for ``idleLimit``.
        let endsIdleConnections: Bool
        /// Whether it serves parts of files.
        let servesRanges: Bool
        let launch: @Sendable (Ground) -> Launch

        init(
            _ name: String, _ ways: [Way], uploads: Set<Upload> = Set(Upload.allCases),
            endsIdleConnections: Bool = true,
            servesRanges: Bool = true, launch: @escaping @Sendable (Ground) -> Launch
        ) {
            self.name = name
            self.ways = ways
            self.uploads = uploads
            self.endsIdleConnections = endsIdleConnections
            self.servesRanges = servesRanges
            self.launch = launch
        }

        /// After how many seconds a server ends an idle connection: longer than any test leaves one by chance.
        static let idleLimit = 3

        /// What is spoken with a server, and on which of its ports.
        enum Way: String, CaseIterable, Sendable {
            case http1 = "HTTP/1.1"
            case http1Secure = "HTTP/1.1 with TLS"
            case http2 = "HTTP/2 with TLS"
            case http2Cleartext = "HTTP/2 by prior knowledge"
            /// Through a proxy, which is asked for the whole URL.
            case forwarded = "a forwarding proxy"
            /// Through a proxy, which connects to a server with TLS.
            case tunnelled = "a tunnel"
            case socks = "SOCKS5"
            case socksSecure = "SOCKS5 with TLS"

            var isProxied: Bool {
                switch self {
                case .forwarded, .tunnelled, .socks, .socksSecure: true
                case .http1, .http1Secure, .http2, .http2Cleartext: false
                }
            }
        }

        /// A kind of upload.
        enum Upload: CaseIterable {
            /// One KiB, one MiB, and eight MiB from a file, which are announced with an expectation in HTTP/1.1.
            case small, medium, file
            /// One MiB without a length.
            case stream
        }

        /// What a configuration is made of.
        struct Ground: Sendable {
            /// Where the program runs. Its file `cert.pem` has the certificate, `key.pem` the key, `both.pem` both.
            let folder: URL
            /// Where ``Way/http1`` is spoken.
            let plain: Int
            /// Where ``Way/http1Secure`` and ``Way/http2`` are.
            let secure: Int
            /// Where ``Way/http2Cleartext`` is.
            let http2: Int
            /// Where the proxy is, if the program is one.
            let proxy: Int
            /// Of the server of ours.
            let origin: Int

            var path: String { folder.path }
        }

        /// The files that a program needs, and the commands that run it in the foreground.
        struct Launch: Sendable {
            var files: [String: String] = [:]
            let commands: [[String]]

            init(_ commands: [String]..., files: [String: String] = [:]) {
                self.commands = commands
                self.files = files
            }
        }
    }

    extension ServerProgram {
        static let all = [
            nginx, apache, lighttpd, haproxy, h2o, caddy, nghttpd, nghttpx, varnish, squid, tinyproxy, dante,
        ]

        static let nginx = ServerProgram("nginx", [.http1, .http1Secure, .http2, .http2Cleartext]) { ground in
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(ground.path)/\($0);" }.joined(separator: " ")
            return Launch(
                ["/usr/sbin/nginx", "-p", ground.path, "-c", "nginx.conf"],
                files: [
                    "nginx.conf": """
                    daemon off; worker_processes 1; pid nginx.pid; error_log stderr;
                    events { worker_connections 4096; }
                    http {
                        access_log off; \(temporary)
                        keepalive_timeout \(idleLimit)s; keepalive_requests 1000; client_max_body_size 0;
                        server {
                            listen 127.0.0.1:\(ground.plain);
                            listen 127.0.0.1:\(ground.secure) ssl http2;
                            listen 127.0.0.1:\(ground.http2) http2;
                            ssl_certificate cert.pem; ssl_certificate_key key.pem;
                            root www;
                            location /files/ { }
                            location / {
                                proxy_pass http://127.0.0.1:\(ground.origin);
                                proxy_http_version 1.1; proxy_request_buffering off;
                            }
                        }
                    }
                    """
                ])
        }

        static let apache = ServerProgram("Apache", [.http1, .http1Secure, .http2, .http2Cleartext]) { ground in
            let modules = ["mpm_event", "authz_core", "ssl", "http2", "proxy", "proxy_http"]
                .map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n")
            return Launch(
                ["/usr/sbin/apache2", "-d", ground.path, "-f", "apache.conf", "-DFOREGROUND"],
                files: [
                    "apache.conf": """
                    \(modules)
                    User nobody
                    Group nogroup
                    ServerName localhost
                    DefaultRuntimeDir \(ground.path)
                    PidFile apache.pid
                    ErrorLog apache.log
                    Listen 127.0.0.1:\(ground.plain)
                    Listen 127.0.0.1:\(ground.secure)
                    Listen 127.0.0.1:\(ground.http2)
                    KeepAliveTimeout \(idleLimit)
                    MaxKeepAliveRequests 1000
                    Protocols h2 h2c http/1.1
                    DocumentRoot www
                    ProxyPass "/files" "!"
                    ProxyPass "/" "http://127.0.0.1:\(ground.origin)/"
                    <VirtualHost 127.0.0.1:\(ground.secure)>
                        SSLEngine on
                        SSLCertificateFile cert.pem
                        SSLCertificateKeyFile key.pem
                    </VirtualHost>
                    """
                ])
        }

        /// Over HTTP/2 its version 1.4.69 now and then reads no more of a connection, with every client: without TLS in the
        /// middle of large responses, with it after cancels.
        static let lighttpd = ServerProgram(
            "lighttpd", [.http1, .http1Secure]
        ) { ground in
            Launch(
                ["/usr/sbin/lighttpd", "-D", "-f", "lighttpd.conf"],
                files: [
                    "lighttpd.conf": """
                    server.modules = ("mod_openssl", "mod_proxy")
                    server.document-root = "\(ground.path)/www"
                    server.bind = "127.0.0.1"
                    server.port = \(ground.plain)
                    server.max-keep-alive-idle = \(idleLimit)
                    server.max-keep-alive-requests = 1000
                    $SERVER["socket"] == "127.0.0.1:\(ground.secure)" {
                        ssl.engine = "enable"
                        ssl.pemfile = "\(ground.path)/cert.pem"
                        ssl.privkey = "\(ground.path)/key.pem"
                    }
                    $HTTP["url"] !~ "^/files/" {
                        proxy.server = ("" => (("host" => "127.0.0.1", "port" => \(ground.origin))))
                    }
                    """
                ])
        }

        static let haproxy = ServerProgram("HAProxy", [.http1, .http1Secure, .http2, .http2Cleartext]) { ground in
            Launch(
                ["/usr/sbin/haproxy", "-db", "-f", "haproxy.cfg"],
                files: [
                    "haproxy.cfg": """
                    defaults
                        mode http
                        timeout connect 5s
                        timeout client 30s
                        timeout server 30s
                        timeout http-keep-alive \(idleLimit)s
                    frontend everything
                        bind 127.0.0.1:\(ground.plain)
                        bind 127.0.0.1:\(ground.secure) ssl crt both.pem alpn h2,http/1.1
                        bind 127.0.0.1:\(ground.http2) proto h2
                        default_backend origin
                    backend origin
                        server origin 127.0.0.1:\(ground.origin)

                    """
                ])
        }

        static let h2o = ServerProgram("H2O", [.http1, .http1Secure, .http2, .http2Cleartext]) { ground in
            Launch(
                ["/usr/bin/h2o", "-c", "h2o.conf"],
                files: [
                    "h2o.conf": """
                    num-threads: 1
                    http1-request-timeout: \(idleLimit)
                    http2-idle-timeout: \(idleLimit)
                    listen:
                      host: 127.0.0.1
                      port: \(ground.plain)
                    listen:
                      host: 127.0.0.1
                      port: \(ground.http2)
                    listen:
                      host: 127.0.0.1
                      port: \(ground.secure)
                      ssl:
                        certificate-file: cert.pem
                        key-file: key.pem
                    hosts:
                      default:
                        paths:
                          /files:
                            file.dir: www/files
                          /:
                            proxy.reverse.url: http://127.0.0.1:\(ground.origin)/

                    """
                ])
        }

        static let caddy = ServerProgram("Caddy", [.http1, .http1Secure, .http2, .http2Cleartext]) { ground in
            let site = """
                {
                    bind 127.0.0.1
                    handle /files/* {
                        root * \(ground.path)/www
                        file_server
                    }
                    handle {
                        reverse_proxy 127.0.0.1:\(ground.origin)
                    }
                """
            return Launch(
                ["/usr/bin/caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"],
                files: [
                    "Caddyfile": """
                    {
                        admin off
                        auto_https disable_redirects
                        storage file_system \(ground.path)/caddy
                        servers {
                            protocols h1 h2 h2c
                            timeouts {
                                idle \(idleLimit)s
                            }
                        }
                    }
                    http://localhost:\(ground.plain), http://localhost:\(ground.http2) \(site)
                    }
                    https://localhost:\(ground.secure) \(site)
                        tls \(ground.path)/cert.pem \(ground.path)/key.pem
                    }

                    """
                ])
        }

        static let nghttpd = ServerProgram(
            "nghttpd", [.http2, .http2Cleartext], uploads: [], endsIdleConnections: false, servesRanges: false
        ) { ground in
            Launch(
                ["/usr/sbin/nghttpd", "-a", "127.0.0.1", "-d", "www", "--no-tls", String(ground.http2)],
                ["/usr/sbin/nghttpd", "-a", "127.0.0.1", "-d", "www", String(ground.secure), "key.pem", "cert.pem"])
        }

        static let nghttpx = ServerProgram("nghttpx", [.http1, .http1Secure, .http2, .http2Cleartext]) { ground in
            Launch([
                "/usr/sbin/nghttpx", "--conf", "/dev/null", "--no-ocsp", "--errorlog-file=nghttpx.log",
                "--frontend=127.0.0.1,\(ground.plain);no-tls", "--frontend=127.0.0.1,\(ground.http2);no-tls",
                "--frontend=127.0.0.1,\(ground.secure)", "--backend=127.0.0.1,\(ground.origin)",
                "--frontend-keep-alive-timeout=\(idleLimit)s", "--frontend-http2-read-timeout=\(idleLimit)s", "key.pem",
                "cert.pem",
            ])
        }

        static let varnish = ServerProgram("Varnish", [.http1, .http2Cleartext]) { ground in
            Launch([
                "/usr/sbin/varnishd", "-F", "-n", "\(ground.path)/varnish", "-j", "none", "-s", "malloc,64m",
                "-a", "127.0.0.1:\(ground.plain)", "-a", "127.0.0.1:\(ground.http2)",
                "-b", "127.0.0.1:\(ground.origin)", "-p", "feature=+http2", "-p", "timeout_idle=\(idleLimit)",
            ])
        }

        /// Its version 5.7 ends connections now and then over which it has sent `100 Continue` and got all that it wanted.
        static let squid = ServerProgram("Squid", [.forwarded, .tunnelled], uploads: [.small, .medium, .stream]) {
            ground in
            Launch(
                ["/usr/sbin/squid", "-N", "-f", "\(ground.path)/squid.conf"],
                files: [
                    "squid.conf": """
                    http_port 127.0.0.1:\(ground.proxy)
                    http_access allow all
                    cache deny all
                    access_log none
                    cache_log /dev/null
                    pid_filename none
                    coredump_dir \(ground.path)
                    pinger_enable off
                    netdb_filename none
                    visible_hostname localhost
                    max_filedescriptors 4096
                    client_idle_pconn_timeout \(idleLimit) seconds
                    shutdown_lifetime 0 seconds

                    """
                ])
        }

        static let tinyproxy = ServerProgram("Tinyproxy", [.forwarded, .tunnelled]) { ground in
            Launch(
                ["/usr/bin/tinyproxy", "-d", "-c", "tinyproxy.conf"],
                files: [
                    "tinyproxy.conf": """
                    Port \(ground.proxy)
                    Listen 127.0.0.1
                    Allow 127.0.0.1
                    MaxClients 500
                    Timeout 60
                    LogLevel Critical

                    """
                ])
        }

        static let dante = ServerProgram("Dante", [.socks, .socksSecure]) { ground in
            Launch(
                ["/usr/sbin/danted", "-f", "danted.conf", "-p", "danted.pid"],
                files: [
                    "danted.conf": """
                    logoutput: \(ground.path)/danted.log
                    internal: 127.0.0.1 port = \(ground.proxy)
                    external: 127.0.0.1
                    clientmethod: none
                    socksmethod: none
                    client pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
                    socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }

                    """
                ])
        }
    }
#endif
